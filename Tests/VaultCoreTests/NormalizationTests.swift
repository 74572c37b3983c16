import CofferTesting
import Foundation
import Testing

@testable import Passphrases
@testable import SecretMemory
@testable import VaultCore

/// Passphrases must be normalised as Python's unicodedata has it.
@Suite struct NormalizationTests {
  /// Runs Python over lines of hexadecimal UTF-8 and returns its NFC, line by line; empty for lines that it does not know all of.
  static func python(_ lines: [[UInt8]]) throws -> [[UInt8]] {
    let script = """
      import sys, unicodedata
      for line in sys.stdin:
          text = bytes.fromhex(line.strip()).decode()
          known = all(unicodedata.category(c) != 'Cn' for c in text)
          print(unicodedata.normalize('NFC', text).encode().hex() if known else '')
      """
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script]
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let text = lines.map { $0.map { String(format: "%02x", $0) }.joined() }.joined(separator: "\n") + "\n"
    Thread.detachNewThread {
      try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
      try? input.fileHandleForWriting.close()
    }
    let answer = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return answer.components(separatedBy: "\n").dropLast().map { line in
      stride(from: 0, to: line.count, by: 2).map { index in
        UInt8(line.dropFirst(index).prefix(2), radix: 16) ?? 0
      }
    }
  }

  func compare(_ texts: [[UInt8]]) throws {
    let expected = try Self.python(texts)
    try #require(expected.count == texts.count)
    var compared = 0
    for (text, nfc) in zip(texts, expected) where !nfc.isEmpty {
      let ours = try NormalizedText(composing: Secret(testing: text)).bytes.copyIntoUnprotectedBytes()
      if ours != nfc { Issue.record("\(text) became \(ours), not \(nfc)") }
      compared += 1
    }
    #expect(compared > texts.count / 2)
  }

  /// Every code point that Unicode 15 knows, after a letter, and alone with its decomposition.
  @Test func everyCodePoint() throws {
    let scalars = (0x20...0x2FFFF).compactMap(Unicode.Scalar.init).filter { $0.properties.generalCategory != .unassigned }
    try compare(scalars.map { scalar in Array("a\(String(String.UnicodeScalarView([scalar])))e".utf8) })
    try compare(
      scalars.filter { !Array(String($0).decomposedStringWithCanonicalMapping.unicodeScalars).elementsEqual([$0]) }
        .map { Array(String($0).decomposedStringWithCanonicalMapping.utf8) })
  }

  /// U+11A7 is no final consonant, but lies where one would: utf8proc 2.8 by itself drops it after a syllable.
  @Test func everyHangulSyllableBeforeEveryFinalConsonant() throws {
    let syllables = stride(from: 0xAC00, to: 0xD7A4, by: 28).compactMap { Unicode.Scalar($0) }
    try compare(
      syllables.flatMap { syllable in
        (0x11A6...0x11C3).compactMap { Unicode.Scalar($0) }.map {
          Array("\(Character(syllable))x".utf8.dropLast()) + Array($0.utf8)
        }
      })
  }

  /// As FORMAT.md 5.2 says, whichever version the libraries have.
  @Test(arguments: [
    (0x11F00, true), (0x1FAE8, true), (0xE000, true), (0x10FFFD, true), (0x2FFC, false), (0x105C0, false), (0x16D63, false),
    (0x378, false), (0xFFFF, false), (0xFDD0, false),
  ])
  func whatUnicode15HasAssigned(value: UInt32, isAssigned: Bool) throws {
    let text = "a\(Character(try #require(Unicode.Scalar(value))))\u{1100}"
    #expect(try NormalizedText(composing: Secret(testing: text)).isAssigned == isAssigned)
  }

  /// An unassigned code point never keeps a vault closed.
  @Test func unassignedCodePointsOpenButMakeNoSlot() throws {
    let credential = try Credential.passphrase(Secret(testing: "\u{378}"))
    #expect(code { try credential.checkForNewSlot() } == .passphraseNotText)
    let slot = try KeySlot(
      index: 1, sealing: .random(), under: credential, kdf: .lowMemory,
      vault: #require(Identifier([UInt8](repeating: 7, count: 16))))
    let master = try slot.open(
      with: credential, vault: #require(Identifier([UInt8](repeating: 7, count: 16))), ceiling: .standard)
    if master == nil { Issue.record("does not open") }
  }

  @Test func theLongestPassphrases() throws {
    // U+0958 is two code points of three bytes each in normal form C.
    let longest = String(repeating: "\u{958}", count: 682)
    #expect(try NormalizedText(composing: Secret(testing: longest)).bytes.count == 4092)
    #expect(code { try Credential.passphrase(Secret(testing: longest + "\u{958}")).checkForNewSlot() } == .passphraseLength)
    #expect(try NormalizedText(composing: Secret(testing: String(repeating: "\u{390}", count: 2048))).bytes.count == 4096)
    #expect(try NormalizedText(composing: Secret(testing: String(repeating: "\u{1D160}", count: 1024))).bytes.count == 12288)
    #expect(try NormalizedText(composing: Secret(count: 0)).bytes.count == 0)
    #expect(code { _ = try Credential.passphrase(Secret(testing: String(repeating: "x", count: 4097))) } == .passphraseLength)
  }

  /// Random mixes of what composes: letters, marks of all classes, Hangul pieces, Indic vowel signs.
  @Test func randomMixes() throws {
    var random = SeededGenerator(seed: 42)
    let marks =
      (0x300...0x36F).map { UInt32($0) } + [
        0x9BE, 0x9D7, 0xDCF, 0xDDF, 0x102E, 0x3099, 0x309A, 0x1161, 0x1175, 0x11A7, 0x11A8, 0x11C2,
      ]
    let bases: [UInt32] = [
      0x61, 0x41, 0x65, 0xE9, 0x1E69, 0x9C7, 0xDD9, 0x1025, 0x304B, 0x1100, 0x1112, 0xAC00, 0xAC01, 0x212B, 0x344, 0x1F600, 0x20,
      0x958, 0xFB1D,
    ]
    try compare(
      (0..<4000).map { _ in
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 1...12, using: &random) {
          let pool = Bool.random(using: &random) ? marks : bases
          text.append(Unicode.Scalar(pool.randomElement(using: &random)!)!)
        }
        return Array(String(text).utf8)
      })
  }
}
