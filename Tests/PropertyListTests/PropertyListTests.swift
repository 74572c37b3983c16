import CofferPropertyLists
import CofferTesting
import Foundation
import Testing

@Suite struct PropertyListTests {
  static func text(_ random: inout SeededGenerator) -> String {
    let pool: [Unicode.Scalar] = [
      "a", "Z", "0", " ", "\n", "\t", "<", ">", "&", "\"", "'", "\u{E9}", "\u{301}", "\u{20AC}", "\u{1F600}", "]",
    ]
    var view = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...20, using: &random) { view.append(pool.randomElement(using: &random)!) }
    return String(view)
  }

  /// Values that both formats represent exactly.
  static func value(_ random: inout SeededGenerator, depth: Int = 0) -> PropertyListValue {
    switch Int.random(in: 0..<(depth > 4 ? 8 : 10), using: &random) {
    case 0: return .string(text(&random))
    case 1: return .integer(Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random))
    case 2: return .number(random.next() | 1 << 63)
    case 3: return .real(Double(Int64(bitPattern: random.next())) / 1024)
    case 4: return .boolean(Bool.random(using: &random))
    case 5: return .date(Double(Int64.random(in: -60_000_000_000...250_000_000_000, using: &random)))
    case 6: return .data((0..<Int.random(in: 0...100, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
    case 7: return .integer([0, 1, -1, 255, 256, 65_535, 65_536, .max, .min].randomElement(using: &random)!)
    case 8: return .array((0..<Int.random(in: 0...20, using: &random)).map { _ in value(&random, depth: depth + 1) })
    default:
      var dictionary = PropertyListDictionary()
      for _ in 0..<Int.random(in: 0...20, using: &random) { dictionary[text(&random)] = value(&random, depth: depth + 1) }
      return .dictionary(dictionary)
    }
  }

  @Test(arguments: [PropertyList.Format.xml, .binary]) func valuesComeBack(format: PropertyList.Format) throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<500 {
      let value = Self.value(&random)
      let read = try PropertyList.read(PropertyList.write(value, format))
      #expect(read.value == value)
      #expect(read.format == format)
    }
  }

  static func python(_ script: String, _ input: Data = Data()) throws -> Data {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script]
    let (stdin, stdout) = (Pipe(), Pipe())
    process.standardInput = stdin
    process.standardOutput = stdout
    try process.run()
    Thread.detachNewThread {
      try? stdin.fileHandleForWriting.write(contentsOf: input)
      try? stdin.fileHandleForWriting.close()
    }
    let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return output
  }

  /// Python reads our files and writes them in both formats; we read the same value from its files.
  @Test(arguments: [PropertyList.Format.xml, .binary]) func pythonAgrees(format: PropertyList.Format) throws {
    var random = SeededGenerator(seed: 11)
    let values = (0..<60).map { _ in Self.value(&random) }
    var input = Data()
    for value in values {
      let bytes = try PropertyList.write(value, format)
      input += (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
      input += bytes
    }
    let output = try Self.python(
      """
      import sys, struct, plistlib
      data = sys.stdin.buffer.read()
      at = 0
      while at < len(data):
          n = struct.unpack_from('<I', data, at)[0]
          value = plistlib.loads(data[at + 4:at + 4 + n])
          at += 4 + n
          for form in (plistlib.FMT_XML, plistlib.FMT_BINARY):
              out = plistlib.dumps(value, fmt=form, sort_keys=False)
              sys.stdout.buffer.write(struct.pack('<I', len(out)) + out)
      """, input)
    var rest = [UInt8](output)[...]
    for value in values {
      for expected in [PropertyList.Format.xml, .binary] {
        let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        let read = try PropertyList.read(Array(rest.dropFirst(4).prefix(count)))
        #expect(read.value == value)
        #expect(read.format == expected)
        rest = rest.dropFirst(4 + count)
      }
    }
    #expect(rest.isEmpty)
  }

  /// As Foundation writes and reads them.
  @Test(arguments: [Double.nan, .infinity, -.infinity]) func numbersThatAreNotFinite(number: Double) throws {
    let value = PropertyListValue.array([.real(number)])
    let xml = try PropertyList.write(value, .xml)
    #expect(try PropertyList.read(xml).value == value)
    #expect(try PropertyList.read(PropertyList.writeExactly(value)).format == .xml)
    let theirs = try PropertyListSerialization.data(fromPropertyList: [number], format: .xml, options: 0)
    #expect(try PropertyList.read(Array(theirs)).value == value)
    func line(_ data: Data) -> Substring? {
      String(decoding: data, as: UTF8.self).split(separator: "\n").first { $0.contains("<real>") }
    }
    #expect(line(Data(xml)) == line(theirs))
    let read = try unsafe PropertyListSerialization.propertyList(from: Data(xml), format: nil) as? [Double]
    #expect(read?.first.map { $0.isNaN == number.isNaN && ($0 == number || $0.isNaN) } == true)
  }

  /// Processors compute NaNs with the sign bit set.
  @Test func aNaNKeepsItsBitsInAFileOfTheStore() throws {
    let value = PropertyListValue.real(Double(bitPattern: 0xFFF8_0000_0000_0000))
    #expect(try PropertyList.read(PropertyList.writeExactly(value)).value == value)
    #expect(try PropertyList.read(PropertyList.write(value, .xml)).value == .real(.nan))
  }

  @Test func valuesBeyondXMLAreWrittenInBinary() throws {
    var lookalike = PropertyListDictionary()
    lookalike["CF$UID"] = .integer(3)
    let values: [PropertyListValue] = [
      .string("bell \u{7}"), .string("nul \0"), .string("\r"), .date(0.75), .string("\u{FFFF}"),
      .dictionary(lookalike),
    ]
    for value in values {
      #expect(throws: PropertyListError(.notRepresentable)) { try PropertyList.write(value, .xml) }
      let read = try PropertyList.read(PropertyList.writeExactly(value))
      #expect(read.value == value)
      #expect(read.format == .binary)
    }
    let plain = try PropertyList.read(PropertyList.writeExactly(.string("plain")))
    #expect(plain.format == .xml)
  }

  @Test func uidsKeepTheirType() throws {
    for format in [PropertyList.Format.xml, .binary] {
      #expect(
        try PropertyList.read(PropertyList.write(.array([.uid(0), .uid(.max)]), format)).value == .array([.uid(0), .uid(.max)]))
    }
  }

  @Test func keysOfDifferentNormalFormsAreTwoKeys() throws {
    var dictionary = PropertyListDictionary()
    dictionary["\u{E9}"] = .integer(1)
    dictionary["e\u{301}"] = .integer(2)
    #expect(dictionary.count == 2)
    for format in [PropertyList.Format.xml, .binary] {
      #expect(try PropertyList.read(PropertyList.write(.dictionary(dictionary), format)).value == .dictionary(dictionary))
    }
  }

  @Test func depthIsBounded() throws {
    func nested(_ depth: Int) -> PropertyListValue { (0..<depth).reduce(.integer(1)) { value, _ in .array([value]) } }
    for format in [PropertyList.Format.xml, .binary] {
      #expect(throws: Never.self) { try PropertyList.read(PropertyList.write(nested(PropertyList.maximumDepth), format)) }
      #expect(throws: PropertyListError(.tooDeep)) { try PropertyList.write(nested(PropertyList.maximumDepth + 1), format) }
    }
    for depth in [10_000, 1_000_000] {
      let xml = "<plist>" + String(repeating: "<array>", count: depth)
      #expect(throws: PropertyListError(.tooDeep)) { try PropertyList.read(Array(xml.utf8)) }
      #expect(throws: PropertyListError(.tooDeep)) { try PropertyList.read([UInt8](repeating: UInt8(ascii: "("), count: depth)) }
    }
  }

  static func binary(_ objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
      bytes += object
    }
    let table = bytes.count
    bytes += offsets
    bytes += [0, 0, 0, 0, 0, 0, 2, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(objects.count)] + [0, 0, 0, 0, 0, 0, 0, 0]
    return bytes + [0, 0, 0, 0, 0, 0, UInt8(table >> 8), UInt8(table & 255)]
  }

  @Test func cyclesAndBombsAreRefused() throws {
    #expect(throws: PropertyListError(.cyclic)) { try PropertyList.read(Self.binary([[0xA1, 0]])) }
    #expect(throws: PropertyListError(.cyclic)) {
      try PropertyList.read(Self.binary([[0xA1, 1], [0xD1, 2, 0], [0x51, 0x61]]))
    }
    // Thirty levels of ten references each to the next: 10^30 values in 350 bytes.
    let levels = (0..<30).map { level in [0xAA] + [UInt8](repeating: UInt8(level + 1), count: 10) }
    #expect(throws: PropertyListError(.tooLarge)) { try PropertyList.read(Self.binary(levels + [[0x09]])) }
    // The same object twice in one array is not a cycle.
    #expect(
      try PropertyList.read(Self.binary([[0xA2, 1, 1], [0xA1, 2], [0x09]])).value
        == .array([.array([.boolean(true)]), .array([.boolean(true)])]))
  }

  @Test func noDamageCrashesAReader() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<10 {
      let value = Self.value(&random)
      for format in [PropertyList.Format.xml, .binary] {
        let bytes = try PropertyList.write(value, format)
        for length in 0..<min(bytes.count, 600) { _ = try? PropertyList.read(Array(bytes.prefix(length))) }
        for _ in 0..<500 {
          var damaged = bytes
          for _ in 0..<Int.random(in: 1...4, using: &random) {
            damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
          }
          _ = try? PropertyList.read(damaged)
        }
      }
    }
  }

  @Test(arguments: [
    ("", PropertyListError.Code.notAPropertyList), ("  \n", .notAPropertyList), ("<plist>", .malformed),
    ("<plist></plist>", .malformed),
    ("<plist><integer>12x</integer></plist>", .malformed), ("<plist><string>&bomb;</string></plist>", .malformed),
    ("<plist><data>A</data></plist>", .malformed), ("<plist><true/></plist>x", .malformed),
    ("<plist><true/><true/></plist>", .malformed),
    ("<plist><dict><key>a</key></dict></plist>", .malformed), ("<plist><date>2026-02-29T00:00:00Z</date></plist>", .malformed),
    ("<plist><integer>18446744073709551616</integer></plist>", .malformed), ("<plist><string>a</plist>", .malformed),
    ("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>", .malformed),
    ("<plist><set/></plist>", .malformed),
    ("{ a = ; }", .malformed), ("( a, b", .malformed), ("<0fb>", .malformed), ("\"open", .malformed), ("{ a = 1 }", .malformed),
    ("{ a = 1; } b", .malformed), ("bplist00", .malformed),
  ])
  func malformedTextIsRefused(text: String, expected: PropertyListError.Code) {
    #expect(throws: PropertyListError(expected)) { try PropertyList.read(Array(text.utf8)) }
  }

  @Test func xmlInAllItsForms() throws {
    let text = """
      \u{FEFF}<?xml version="1.0"?><!-- a --><!DOCTYPE plist PUBLIC "x" "y">
      <plist version='1.0' ><!-- b --><dict>
        <key>a&amp;b</key><integer> -0x10 </integer><key/><string><![CDATA[<&>]]>&#x41;&#66;<!-- c --></string>
        <key>d</key><data> AAEC Aw==
        </data><key>t</key><true></true><key>r</key><real>1e3</real><key>w</key><date>2001-01-01T00:00:00Z</date><?pi?>
      </dict></plist>
      """
    var expected = PropertyListDictionary()
    expected["a&b"] = .integer(-16)
    expected[""] = .string("<&>AB")
    expected["d"] = .data([0, 1, 2, 3])
    expected["t"] = .boolean(true)
    expected["r"] = .real(1000)
    expected["w"] = .date(0)
    #expect(try PropertyList.read(Array(text.utf8)).value == .dictionary(expected))
  }

  @Test func oldStyleInAllItsForms() throws {
    let text = #"""
      // settings
      { name = "M\U00fcller \"x\"\n\101"; list = (a, "b c", ( ), { }, ); /* data */ blob = <0fbd 77 >;
        'single' = com.example.app-1/x_$y:z; }
      """#
    var expected = PropertyListDictionary()
    expected["name"] = .string("Müller \"x\"\nA")
    expected["list"] = .array([.string("a"), .string("b c"), .array([]), .dictionary(PropertyListDictionary())])
    expected["blob"] = .data([0x0F, 0xBD, 0x77])
    expected["single"] = .string("com.example.app-1/x_$y:z")
    let read = try PropertyList.read(Array(text.utf8))
    #expect(read.value == .dictionary(expected))
    #expect(read.format == .openStep)
    #expect(try PropertyList.read(Array("word".utf8)).value == .string("word"))
    var lines = PropertyListDictionary()
    lines["a"] = .string("1")
    lines["b"] = .string("b")
    #expect(try PropertyList.read(Array("a = 1; \"b\";\n".utf8)).value == .dictionary(lines))
  }
}
