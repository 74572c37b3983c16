import Foundation
import Testing

/// A program that locks its vault: of all keys, those that are to stay are there, and no others, in the arena or anywhere else.
@Suite struct LockedMemoryTests {
  static let descriptors: [Int32: String] = [4: "key-file", 6: "device-key"]
  static let kept: Set<String> = ["hdr", "tree", "index", "class-2-1", "class-4-1"]

  private static func place(_ memory: Place.Memory) throws -> Place {
    let place = try Place([.bytes("key-file", count: 64), .bytes("device-key", count: 32)], memory)
    let made = try place.scan("VaultProbe", ["classes", place.file("vault.coffer")], descriptors: descriptors)
    #expect(made.ending == "exit 0")
    try place.write("needles", Data())
    // Master, header, tree, system, index and device key; five classes, three of them in boxes; two keys for each item.
    #expect(try place.addKeys(ofVault: "vault.coffer", keyFile: "key-file", "device-key") == 6 + 5 + 3 + 10)
    return place
  }

  @Test(arguments: Place.Memory.allCases) func onlyTheNamedKeysStay(memory: Place.Memory) throws {
    let place = try Self.place(memory)
    let scan = try place.scan("VaultProbe", ["lock", place.file("vault.coffer")], descriptors: Self.descriptors)
    #expect(scan.ending == "exit 0")
    #expect(scan.phases == ["1", "2", "3", "4", "exit"])
    #expect(scan.leaks.isEmpty, "\(scan.leaks)")
    for phase in ["4", "exit"] { #expect(scan.arena(phase).isEmpty, "not wiped: \(scan.arena(phase))") }
    guard memory == .locked else { return }
    // The control: before, all are there that do not lie in boxes.
    let boxes: Set<String> = ["box-3-1", "box-4-1", "box-5-1"]
    #expect(
      Set(scan.arena("1").map(\.needle))
        == Self.kept.subtracting(["class-4-1"]).union(["mk", "sys", "device", "class-1-1"]).union(boxes))
    for phase in ["2", "3"] { #expect(Set(scan.arena(phase).map(\.needle)) == Self.kept, "\(phase)") }
  }
}
