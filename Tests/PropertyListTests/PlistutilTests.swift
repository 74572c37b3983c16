import CofferPropertyLists
import CofferTesting
import Foundation
import Testing

/// libplist, used by tools for Apple's devices: a fourth implementation beside Apple's, Python's and ours.
@Suite struct PlistutilTests {
  /// It reads each format that we write, and we read its conversion to the other format.
  @Test(arguments: [PropertyList.Format.xml, .binary]) func filesOfBothImplementationsAreReadByBoth(format: PropertyList.Format)
    throws
  {
    var random = SeededGenerator(seed: 21)
    for round in 0..<25 {
      var dictionary = PropertyListDictionary()
      for index in 0..<8 { dictionary["key \(index) é🎻<&>"] = Self.value(&random) }
      let value = PropertyListValue.dictionary(dictionary)
      let bytes = try PropertyList.write(value, format)
      for other in ["xml", "bin"] {
        let read = try PropertyList.read(Self.convert(bytes, to: other))
        #expect(read.value == value, "round \(round), \(format) to \(other)")
        #expect(read.format == (other == "xml" ? .xml : .binary))
      }
    }
  }

  /// Values that libplist supports in both formats: in XML it truncates dates to seconds and real numbers to fewer digits.
  private static func value(_ random: inout SeededGenerator, depth: Int = 0) -> PropertyListValue {
    switch Int.random(in: 0..<(depth < 3 ? 9 : 7), using: &random) {
    case 0: .string(["", "text", "ä🎻 < & >", " spaces "].randomElement(using: &random)!)
    case 1: .integer(.random(in: .min ... .max, using: &random))
    case 2: .integer(.random(in: -9...300, using: &random))
    case 3: .boolean(.random(using: &random))
    case 4: .data((0..<Int.random(in: 0..<80, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
    case 5: .date(Double(Int.random(in: 0..<700_000_000, using: &random)))
    case 6: .real(Double(Int.random(in: -1000...1000, using: &random)) / 8)
    case 7: .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(&random, depth: depth + 1) })
    default:
      .dictionary(
        (0..<Int.random(in: 0..<4, using: &random)).reduce(into: PropertyListDictionary()) { dictionary, index in
          dictionary["k\(index)"] = value(&random, depth: depth + 1)
        })
    }
  }

  private static func convert(_ bytes: [UInt8], to form: String) throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appending(path: "coffer-plistutil-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(bytes).write(to: file)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/plistutil")
    process.arguments = ["-i", file.path, "-f", form, "-o", "-"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.propertyListReadCorrupt) }
    return Array(data)
  }
}
