import Foundation
import KeyedHashes
import OneTimeCodes
import SecretMemory
import Testing

@Suite struct CodeSourceTests {
  static func source(_ uri: String) throws -> CodeSource { try CodeSource(Secret(copying: Array(uri.utf8))) }

  static func text(_ secret: borrowing Secret) -> String { String(decoding: secret.copyIntoUnprotectedBytes(), as: UTF8.self) }

  static func code(_ uri: String, at seconds: UInt64 = 0, later: UInt64 = 0) throws -> String {
    let source = try source(uri)
    return text(try source.code(source.factor(at: seconds, later: later)))
  }

  static func base32(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    let bits = bytes.flatMap { byte in (0..<8).map { Int(byte >> (7 - $0)) & 1 } }
    return stride(from: 0, to: bits.count, by: 5).map { start in
      let group = (0..<5).reduce(0) { $0 * 2 + (start + $1 < bits.count ? bits[start + $1] : 0) }
      return String(letters[group])
    }.joined()
  }

  // MARK: Vectors

  /// RFC 4226, appendix D.
  @Test func codesByACounter() throws {
    let expected = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]
    let seed = Self.base32(Array("12345678901234567890".utf8))
    for (counter, code) in expected.enumerated() {
      #expect(try Self.code("otpauth://hotp/a?secret=\(seed)&counter=\(counter)") == code)
    }
  }

  /// RFC 6238, appendix B.
  @Test(
    arguments: [
      (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
      (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
      (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
    ] as [(UInt64, String, String, String)]) func codesByTime(seconds: UInt64, sha1: String, sha256: String, sha512: String)
    throws
  {
    for (name, count, code) in [("SHA1", 20, sha1), ("SHA256", 32, sha256), ("SHA512", 64, sha512)] {
      let seed = Self.base32((0..<count).map { UInt8(ascii: "0") + UInt8(($0 + 1) % 10) })
      #expect(try Self.code("otpauth://totp/a?secret=\(seed)&digits=8&algorithm=\(name)", at: seconds) == code)
    }
  }

  /// Debian's oathtool, with seeds of each length, at each hash and length of code.
  @Test func oathtoolMakesTheSameCodes() throws {
    var lines: [String] = []
    var expected: [String] = []
    for index in 0..<1000 {
      let seed = Self.base32((0..<Int.random(in: 1...80)).map { _ in UInt8.random(in: 0...255) })
      let digits = 6 + index % 3
      let seconds = UInt64.random(in: 0...4_000_000_000)
      let period = UInt64.random(in: 1...300)
      let algorithm = KeyedHash.allCases[index / 3 % 3].rawValue
      let uri = "otpauth://totp/a?secret=\(seed)&digits=\(digits)&algorithm=\(algorithm)&period=\(period)"
      lines.append("oathtool --totp=\(algorithm) -b -d \(digits) -s \(period) -N @\(seconds) -w 3 \(seed)")
      for later in 0..<4 { expected.append(try Self.code(uri, at: seconds, later: UInt64(later))) }
      let counter = UInt64.random(in: 0...1 << 40)
      lines.append("oathtool --hotp -b -d \(digits) -c \(counter) \(seed)")
      expected.append(try Self.code("otpauth://hotp/a?secret=\(seed)&digits=\(digits)&counter=\(counter)"))
    }
    let process = Process()
    let output = Pipe()
    // Longer than an argument may be.
    let script = FileManager.default.temporaryDirectory.appending(path: "oathtool-\(UUID())")
    try Data(lines.joined(separator: "\n").utf8).write(to: script)
    defer { try? FileManager.default.removeItem(at: script) }
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [script.path]
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init) == expected)
  }

  // MARK: URIs

  @Test func parametersHaveTheirUsualValues() throws {
    let source = try Self.source("otpauth://totp/Site:ada?issuer=Site&secret=JBSWY3DPEHPK3PXP&image=x#end")
    #expect(source.parameters == CodeParameters())
    #expect(source.secondsLeft(at: 0) == 30 && source.secondsLeft(at: 59) == 1)
  }

  @Test(arguments: [
    "jbswy3dpehpk3pxp", "JBSW%20Y3DP%20EHPK%203PXP", "JBSWY3DP-EHPK3PXP", "JBSWY3DPEHPK3PXP%3D%3D%3d", "JBSWY3DPEHPK3PXP======",
    "%4aBSWY3DPEHPK3PXP",
  ]) func aKeyIsTakenAsPeopleTypeIt(key: String) throws {
    #expect(
      try Self.code("OTPAUTH://TOTP/a?Secret=\(key)", at: 59) == Self.code("otpauth://totp/a?secret=JBSWY3DPEHPK3PXP", at: 59))
  }

  @Test(
    arguments: [
      ("", .notCodeURI), ("https://totp/a?secret=JBSWY3DP", .notCodeURI), ("otpauth://steam/a?secret=JBSWY3DP", .notCodeURI),
      ("otpauth://totp/a", .seedMissing), ("otpauth://totp/a?digits=6", .seedMissing), ("otpauth://totp/a?secret=", .seedMissing),
      ("otpauth://totp/a#?secret=JBSWY3DP", .seedMissing), ("otpauth://totp/a?secret=JBSWY3D1", .seedNotBase32),
      ("otpauth://totp/a?secret=JB=SWY3D", .seedNotBase32), ("otpauth://totp/a?secret=%C3%A9", .seedNotBase32),
      ("otpauth://totp/a?secret=J", .seedCutOff), ("otpauth://totp/a?secret=JBS", .seedCutOff),
      ("otpauth://totp/a?secret=JBSWY3", .seedCutOff), ("otpauth://totp/a?secret=JBSWY3D%4", .escapeMalformed),
      ("otpauth://totp/a?secret=JBSWY3DP%zz", .escapeMalformed), ("otpauth://totp/a b?secret=JBSWY3DP", .escapeMalformed),
      ("otpauth://totp/a?secret=JBSWY3DP&secret=JBSWY3DP", .parameterTwice),
      ("otpauth://totp/a?secret=JBSWY3DP&digits=6&digits=8", .parameterTwice),
      ("otpauth://totp/a?secret=JBSWY3DP&algorithm=MD5", .algorithmUnknown),
      ("otpauth://totp/a?secret=JBSWY3DP&digits=5", .digitsNotAllowed),
      ("otpauth://totp/a?secret=JBSWY3DP&digits=9", .digitsNotAllowed),
      ("otpauth://totp/a?secret=JBSWY3DP&digits=", .digitsNotAllowed),
      ("otpauth://totp/a?secret=JBSWY3DP&period=0", .periodNotAllowed),
      ("otpauth://totp/a?secret=JBSWY3DP&period=301", .periodNotAllowed), ("otpauth://hotp/a?secret=JBSWY3DP", .counterMissing),
      ("otpauth://hotp/a?secret=JBSWY3DP&counter=-1", .counterNotAllowed),
      ("otpauth://hotp/a?secret=JBSWY3DP&counter=18446744073709551616", .counterNotAllowed),
      ("otpauth://totp/a?secret=JBSWY3DP&encoder=steam", .encoderUnknown),
    ] as [(String, CodeError.Code)]) func anotherTextIsRefused(uri: String, code: CodeError.Code)
  {
    #expect { _ = try Self.source(uri) } throws: { ($0 as? CodeError)?.code == code }
  }

  @Test func longTextsAreRefused() throws {
    func refusal(_ uri: String) -> CodeError.Code? {
      do {
        _ = try Self.source(uri)
        return nil
      } catch {
        return (error as? CodeError)?.code
      }
    }
    #expect(refusal("otpauth://totp/\(String(repeating: "a", count: 4096))?secret=JBSWY3DP") == .tooLong)
    #expect(refusal("otpauth://totp/a?secret=\(Self.base32([UInt8](repeating: 7, count: 1024)))") == nil)
    #expect(refusal("otpauth://totp/a?secret=\(Self.base32([UInt8](repeating: 7, count: 1025)))") == .seedTooLong)
  }

  /// Every beginning of a URI is one, or an error.
  @Test func aURIThatIsCutOffIsRefusedOrAnother() throws {
    let uri = Array("otpauth://hotp/Site:ada?secret=JBSWY3DPEHPK3PXP&digits=8&counter=%31234&algorithm=SHA256".utf8)
    for count in uri.indices {
      do {
        _ = try CodeSource(Secret(copying: Array(uri[..<count])))
      } catch {
        #expect(error is CodeError)
      }
    }
  }

  // MARK: Counters

  @Test(arguments: [
    ("otpauth://hotp/a?secret=JBSWY3DP&counter=9&digits=6", "otpauth://hotp/a?secret=JBSWY3DP&counter=10&digits=6"),
    (" otpauth://hotp/a?counter=0&secret=JBSWY3DP\n", "otpauth://hotp/a?counter=1&secret=JBSWY3DP"),
    ("otpauth://hotp/a?secret=JBSWY3DP&counter=%39#x", "otpauth://hotp/a?secret=JBSWY3DP&counter=10#x"),
    ("otpauth://hotp/counter=4?secret=JBSWY3DP&counter=4", "otpauth://hotp/counter=4?secret=JBSWY3DP&counter=5"),
  ]) func theNextCounterTakesThePlaceOfTheLast(uri: String, next: String) throws {
    guard let advanced = try Self.source(uri).advanced() else {
      Issue.record("no counter")
      return
    }
    #expect(Self.text(advanced) == next)
  }

  @Test func aCounterHasAnEndAndTimeHasNone() throws {
    let last = try Self.source("otpauth://hotp/a?secret=JBSWY3DP&counter=18446744073709551615")
    #expect(throws: CodeError(.counterAtItsEnd)) { _ = try last.advanced() }
    let isNil = try Self.source("otpauth://totp/a?secret=JBSWY3DP").advanced() == nil
    #expect(isNil)
  }

  // MARK: Keys

  @Test func aKeyBecomesAURI() throws {
    var parameters = CodeParameters()
    let key = try Secret(copying: Array("jbsw y3dp-ehpk 3pxp\n".utf8))
    #expect(
      Self.text(try CodeSource.uri(seed: key, parameters, label: "a:b"))
        == "otpauth://totp/a:b?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30")
    (parameters.moment, parameters.digits, parameters.algorithm) = (.counter(7), 8, .sha512)
    #expect(
      Self.text(try CodeSource.uri(seed: key, parameters, label: "a"))
        == "otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP&algorithm=SHA512&digits=8&counter=7")
    for (text, code) in [("", CodeError.Code.seedMissing), ("1", .seedNotBase32), ("A&digits=8", .seedNotBase32)] {
      let key = try Secret(copying: Array(text.utf8))
      #expect { _ = try CodeSource.uri(seed: key, CodeParameters(), label: "a") } throws: { ($0 as? CodeError)?.code == code }
    }
  }
}
