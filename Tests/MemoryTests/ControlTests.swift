import Foundation
import Testing

/// The scanner finds what is there.
@Suite struct ControlTests {
  /// A program that reads lines, makes strings and JSON of them, and sets its variables to something else afterwards.
  @Test func naiveProgramIsCaught() throws {
    let place = try Place([.text("passphrase", count: 24), .text("secret", count: 48)])
    try place.write("input", Data(place.needles.flatMap { $0.bytes + [0x0A] }))
    let scan = try place.scan("NaiveProbe", ["text"], descriptors: [0: "input"])
    #expect(scan.ending == "exit 0")
    for needle in place.needles { #expect(scan.leaks.contains { $0.needle == needle.name && $0.encoding == "raw" }) }
    print("memory: the naive program left \(scan.leaks.map(\.description))")
  }

  @Test(arguments: ["raw", "piece", "utf16", "hex", "HEX", "base64-0", "base64-1", "base64-2"], [31, 32, 33])
  func everyEncodingIsCaught(encoding: String, count: Int) throws {
    let place = try Place([.bytes("secret", count: count)])
    let scan = try place.scan("NaiveProbe", [encoding], descriptors: [0: "secret"])
    #expect(scan.ending == "exit 0")
    let found = Set(scan.leaks.map(\.encoding))
    #expect(found.contains(encoding == "piece" ? "raw" : encoding))
    // Digits alone are the same in both.
    #expect(found.count == 1 || found == ["hex", "HEX"])
  }

  @Test func otherBytesAreNot() throws {
    let place = try Place([.bytes("secret", count: 32)])
    try place.write("input", Data(Needle.bytes("other", count: 32).bytes))
    #expect(try place.scan("NaiveProbe", ["raw"], descriptors: [0: "input"]).hits.isEmpty)
  }
}
