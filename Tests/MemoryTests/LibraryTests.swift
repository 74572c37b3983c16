import Foundation
import Testing

/// A program that uses the library, stopped after each step.
@Suite struct LibraryTests {
  static let needles: [Needle] = [.text("passphrase", count: 24), .bytes("key-file", count: 64), .text("secret", count: 48)]
  static let descriptors: [Int32: String] = [3: "passphrase", 4: "key-file", 5: "secret"]

  @Test(arguments: Place.Memory.allCases) func nothingLiesOutsideTheArena(memory: Place.Memory) throws {
    let place = try Place(Self.needles, memory)
    let scan = try place.scan("VaultProbe", ["hold", place.file("vault.coffer")], descriptors: Self.descriptors)
    #expect(scan.ending == "exit 0")
    #expect(scan.phases == ["1", "2", "3", "4", "5", "6", "exit"])
    #expect(scan.leaks.isEmpty, "\(scan.leaks)")
    for phase in ["6", "exit"] { #expect(scan.arena(phase).isEmpty, "not wiped: \(scan.arena(phase))") }
    switch memory {
    case .secret: break
    case .locked:
      // The control: what the program holds is in the arena, and is seen there.
      for phase in ["1", "2"] { #expect(Set(scan.arena(phase).map(\.needle)) == ["passphrase", "key-file"]) }
      #expect(Set(scan.arena("4").map(\.needle)) == ["passphrase", "key-file", "secret"])
      #expect(scan.arena("4").allSatisfy { $0.encoding == "raw" })
    }
    print(
      "memory: library, \(memory) memory, \(scan.phases.count) phases, \(scan.read >> 20) MiB: \(scan.leaks.count) hits outside")
  }

  static let gcore = ["/usr/bin/gcore", "/bin/gcore"].first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Waits until the program has stopped itself.
  static func waitForStop(_ process: Process) throws {
    for _ in 0..<2000 {
      let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
      if status.contains(") T ") { return }
      usleep(10_000)
    }
    Issue.record("\(process.processIdentifier) never stopped")
  }

  /// A core of a program that `gcore` takes at its `stop`th stop, as a crash would leave it.
  static func core(
    of name: String, _ arguments: [String], stop: Int, _ place: Place, _ descriptors: [Int32: String]
  ) throws -> Scan {
    // The shell opens the descriptors, and makes way.
    let opened = descriptors.map { "\($0.key)<'\(place.file($0.value))'" }.joined(separator: " ")
    let process = place.process("/bin/sh", ["-c", "exec \"$0\" \"$@\" \(opened)", Place.program(name)] + arguments)
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    for number in 1...stop {
      try waitForStop(process)
      guard number < stop else { break }
      kill(process.processIdentifier, SIGCONT)
      usleep(20_000)
    }
    let dump = place.process(gcore!, ["-o", place.file("core"), "\(process.processIdentifier)"])
    dump.standardOutput = FileHandle.nullDevice
    dump.standardError = FileHandle.nullDevice
    try dump.run()
    dump.waitUntilExit()
    return try place.scan(files: [place.file("core.\(process.processIdentifier)")])
  }

  @Test(.enabled(if: gcore != nil)) func coreDumpHasNothing() throws {
    let place = try Place(Self.needles)
    let scan = try Self.core(of: "VaultProbe", ["hold", place.file("vault.coffer")], stop: 4, place, Self.descriptors)
    #expect(scan.read > 1 << 20)
    #expect(scan.hits.isEmpty, "\(scan.hits)")
  }

  @Test(.enabled(if: gcore != nil)) func coreDumpOfTheNaiveProgramHasAll() throws {
    let place = try Place(Self.needles)
    try place.write("input", Data(place.needles.filter { $0.name != "key-file" }.flatMap { $0.bytes + [0x0A] }))
    let scan = try Self.core(of: "NaiveProbe", ["text", "--stop"], stop: 1, place, [0: "input"])
    #expect(Set(scan.hits.map(\.needle)) == ["passphrase", "secret"])
  }
}
