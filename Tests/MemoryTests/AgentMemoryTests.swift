import Foundation
import Testing

/// `cofferd` as it is, scanned after each thing that it was asked for. Takes root: nobody else can look into it.
@Suite(.enabled(if: getuid() == 0, "only root can look into the agent")) struct AgentMemoryTests {
  static let needles: [Needle] = [
    .text("passphrase", count: 24), .bytes("key-file", count: 64), .text("wrong", count: 24), .text("secret", count: 48),
    .bytes("other-secret", count: 3000), .text("kept-secret", count: 60),
  ]
  /// The keys that a locked vault keeps: only those of the classes "after first unlock".
  static let kept: Set<String> = ["hdr", "tree", "index", "class-2-1"]

  /// A vault with a passphrase and a key file, an agent that has it unlocked, and three items that went through it. The needles
  /// are the vault's keys as well.
  static func session(_ memory: Place.Memory, user: UInt32? = nil) throws -> (place: Place, agent: RunningAgent) {
    let place = try Place(needles, memory)
    if let user { try place.give(to: user) }
    try coffer(place, "vault init --low-memory --passphrase-fd 3", [3: "passphrase"])
    try coffer(place, "vault slot add --new-key-file \(place.file("key-file")) --passphrase-fd 3", [3: "passphrase"])
    try coffer(place, "vault unlock --passphrase-fd 3", [3: "passphrase"])
    let agent = try RunningAgent(of: place)
    try coffer(place, "secret set mail/ada", [0: "secret"])
    try coffer(place, "secret set mail/bob --file \(place.file("other-secret"))")
    try coffer(place, "secret set mail/eve --accessible after-first-unlock", [0: "kept-secret"])
    try place.addKeys(ofVault: "coffer/vault.coffer", keyFile: "key-file")
    return (place, agent)
  }

  /// The command too leaves nothing behind of what it has sent to the agent, or got from it.
  static func coffer(
    _ place: Place, _ command: String, _ descriptors: [Int32: String] = [:], ending: String = "exit 0"
  ) throws {
    let scan = try place.scan("coffer", command.components(separatedBy: " "), descriptors: descriptors)
    #expect(scan.ending == ending, "\(command): \(scan.ending)")
    #expect(scan.hits.isEmpty, "\(command): \(scan.hits)")
  }

  @Test(.timeLimit(.minutes(60)), arguments: Place.Memory.allCases)
  func nothingLiesOutsideTheArena(memory: Place.Memory) throws {
    let (place, agent) = try Self.session(memory)
    var scans: [Scan] = []
    func expect(_ names: Set<String>, _ what: String) throws {
      let scan = try agent.scan()
      #expect(scan.leaks.isEmpty, "\(what): \(scan.leaks)")
      // In secret memory nobody sees them. Elsewhere this is the control: the keys that it has are seen.
      let seen = Set(scan.arena("now").map(\.needle))
      #expect(memory == .secret ? seen.isEmpty && scan.unreadable > 0 : seen == names, "\(what): \(scan.arena("now"))")
      scans.append(scan)
    }
    let open = Self.kept.union(["mk", "sys", "class-1-1"])
    func get(_ account: String, _ needle: String) throws {
      try Self.coffer(place, "secret get mail/\(account)", [1: "output"])
      #expect(try place.content("output") == place.content(needle))
    }
    try expect(open, "set")
    for _ in 0..<3 {
      try get("ada", "secret")
      try get("bob", "other-secret")
    }
    try expect(open, "get")
    try Self.coffer(place, "secret list --json", [1: "output"])
    try Self.coffer(place, "secret set mail/ada --update", [0: "other-secret"])
    try Self.coffer(place, "secret edit mail/bob --attr label=mine")
    try Self.coffer(place, "secret move mail/bob mail/dan")
    try expect(open, "list and update")
    try Self.coffer(place, "vault lock")
    try expect(Self.kept, "lock")
    try get("eve", "kept-secret")
    try expect(Self.kept, "get from a locked vault")
    try Self.coffer(place, "vault unlock --passphrase-fd 3", [3: "wrong"], ending: "exit 7")
    try expect(Self.kept, "wrong passphrase")
    try Self.coffer(place, "vault unlock --key-file \(place.file("key-file"))")
    try get("dan", "other-secret")
    try expect(open, "unlock with the key file")
    try Self.coffer(place, "vault lock")
    try expect(Self.kept, "lock again")
    try Self.coffer(place, "agent stop")
    for _ in 0..<10_000 where agent.isRunning { usleep(1000) }
    #expect(!agent.isRunning)
    let (read, leaks) = (scans.map(\.read).reduce(0, +), scans.flatMap(\.leaks).count)
    print("memory: agent, \(memory) memory, \(scans.count) scans, \(read >> 20) MiB: \(leaks) hits outside the arena")
  }

  /// The control of the way to look: a program that treats secrets as any other text is caught by it.
  @Test func naiveProgramIsCaught() throws {
    let place = try Place([.text("passphrase", count: 24), .text("secret", count: 48)])
    try place.write("input", Data(place.needles.flatMap { $0.bytes + [0x0A] }))
    let process = place.process(Place.program("NaiveProbe"), ["text", "--stop"])
    process.standardInput = try FileHandle(forReadingFrom: URL(filePath: place.file("input")))
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    try LibraryTests.waitForStop(process)
    #expect(Set(try place.scan(process: process.processIdentifier).leaks.map(\.needle)) == ["passphrase", "secret"])
  }

  /// To look into a process of one's own takes no privilege, unless that hides itself.
  @Test(.enabled(if: getuid() == 0 && CommandTests.canRun(as: 65_534)), .timeLimit(.minutes(60)))
  func otherProcessesOfTheUserCannotReadItsMemory() throws {
    let (place, agent) = try Self.session(.locked, user: 65_534)
    #expect(try agent.scan().leaks.isEmpty)
    let files = ["mem", "maps", "environ", "fd/0", "exe", "auxv"]
    func readable(_ process: Int32) throws -> [String] {
      let script = """
        import os, sys
        for name in sys.argv[2:]:
            try: os.close(os.open(f'/proc/{sys.argv[1]}/{name}', os.O_RDONLY)); print(name)
            except PermissionError: pass
        """
      let reader = place.process("/usr/bin/python3", ["-c", script, "\(process)"] + files)
      let output = Pipe()
      reader.standardOutput = output
      try reader.run()
      let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      reader.waitUntilExit()
      #expect(reader.terminationStatus == 0)
      return text.split(separator: "\n").map(String.init)
    }
    #expect(try readable(agent.process) == [])
    // The control: one that does not.
    let open = place.process("/bin/sleep", ["600"])
    try open.run()
    defer {
      kill(open.processIdentifier, SIGKILL)
      open.waitUntilExit()
    }
    let seen = try readable(open.processIdentifier)
    #expect(Set(files.dropFirst()).isSubset(of: seen), "\(seen)")
  }
}
