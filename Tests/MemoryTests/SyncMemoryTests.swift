import Foundation
import Testing

/// `coffer-sync`, stopped at the end of each command of two devices, and what they have put into the engine.
@Suite(.enabled(if: getuid() == 0, "only root can look into the agents")) struct SyncMemoryTests {
  /// The last one is the name of an item, which is no secret in a process of its owner: the control.
  private static let needles: [Needle] = [
    .text("secret", count: 48), .text("other", count: 40), .bytes("key-file", count: 64), .text("name", count: 24),
  ]

  private func run(
    _ place: Place, _ program: String, _ command: String, _ descriptors: [Int32: String] = [:], made: String? = nil
  )
    throws -> Scan
  {
    let words = command.components(separatedBy: " ")
    let scan = try place.scan(program, words, descriptors: descriptors, made: made)
    #expect(scan.ending == "exit 0", "\(command): \(scan.ending)")
    #expect(scan.hits.allSatisfy { $0.needle == "name" }, "\(command): \(scan.hits)")
    return scan
  }

  @Test(.timeLimit(.minutes(60)), arguments: Place.Memory.allCases)
  func passesLeaveNothingHereAndNothingReadableThere(memory: Place.Memory) throws {
    let (one, two) = (try Place(Self.needles, memory), try Place(Self.needles, memory))
    var keepers: [RunningAgent] = []
    for place in [one, two] {
      for command in ["init --key-file \(place.file("key-file")) --no-passphrase", "unlock --key-file \(place.file("key-file"))"]
      {
        _ = try run(place, "coffer", "vault " + command)
      }
      keepers.append(try RunningAgent(of: place))
    }
    let name = String(decoding: try one.content("name"), as: UTF8.self)
    let engine = "dir:" + one.file("srv")
    try FileManager.default.createDirectory(atPath: one.file("srv"), withIntermediateDirectories: false)
    _ = try run(one, "coffer", "set \(name) --group home --create-group", [0: "secret"])
    var scans = [try run(one, "coffer-sync", "init \(engine) --person ada --device desk")]
    scans.append(try run(one, "coffer-sync", "share home", [1: "output"]))
    scans.append(try run(one, "coffer-sync", "recovery-key", [1: "paper"]))
    let paper = String(decoding: try one.content("paper"), as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
    try two.write("recovery", Data("\(paper[1][1])\n".utf8))
    scans.append(
      try run(
        two, "coffer-sync", "join \(engine) --recovery-key --space \(paper[0][1]) --person ada --device laptop",
        [0: "recovery", 1: "output"], made: "recovery"))
    _ = try run(one, "coffer", "set \(name) --group home --update", [0: "other"])
    for place in [one, two] {
      for verb in ["now", "status", "conflicts", "check", "members"] {
        scans.append(try run(place, "coffer-sync", verb, [1: "output"]))
      }
    }
    _ = try run(two, "coffer", "get \(name) --group home", [1: "output"])
    #expect(try two.content("output") == two.content("other"))
    #expect(scans.contains { !$0.hits.isEmpty }, "the control is found")
    let files = try FileManager.default.subpathsOfDirectory(atPath: one.file("srv")).map { one.file("srv") + "/" + $0 }
      .filter { (try? FileManager.default.attributesOfItem(atPath: $0)[.type] as? FileAttributeType) == .typeRegular }
    #expect(files.count > 3)
    #expect(try one.scan(files: files).hits.isEmpty)
  }
}
