import Foundation
import Testing

/// `coffer-secrets` and the agent behind it, after reads and writes by both kinds of session.
@Suite(.enabled(if: getuid() == 0, "only root can look into the agents")) struct SecretServiceMemoryTests {
  private static let clients = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Support/SecretClients/clients.py").path

  @Test(.timeLimit(.minutes(60))) func readsAndWritesLeaveNothing() throws {
    let place = try Place(
      [.text("sent", count: 40), .text("encrypted", count: 40), .bytes("key-file", count: 64), .text("attribute", count: 24)],
      .locked)
    let keyFile = place.file("key-file")
    for command in ["vault init --key-file \(keyFile) --no-passphrase", "vault unlock --key-file \(keyFile)"] {
      let scan = try place.scan("coffer", command.components(separatedBy: " "))
      #expect(scan.ending == "exit 0" && scan.hits.isEmpty, "\(command): \(scan.hits)")
    }
    let keeper = try RunningAgent(of: place)
    let bus = startBus(in: place)
    defer { end(bus) }
    let ready = Pipe()
    let service = start(Place.program("coffer-secrets"), ["--ready-fd", "1"], in: place, output: ready)
    defer { end(service) }
    #expect(ready.fileHandleForReading.availableData == Data("ready\n".utf8))

    for round in 1...2 {
      try run("/usr/bin/python3", [Self.clients, "plainly", "sent"], in: place)
      try run(
        "/bin/sh",
        ["-c", "secret-tool store --label=L a $(cat attribute) <encrypted && secret-tool lookup a $(cat attribute)"], in: place)
      try run("/usr/bin/python3", [Self.clients, "key_of_an_app", "key"], in: place)
      let scan = try place.scan(process: service.processIdentifier)
      #expect(Set(scan.leaks.map(\.needle)) == ["attribute"], "\(round): \(scan.leaks); the attribute is the control")
      // Its connections stay.
      let kept = try place.scan(process: keeper.process)
      #expect(kept.leaks.allSatisfy { $0.needle == "attribute" }, "\(round): \(kept.leaks)")
    }
    end(service)
  }

  private func startBus(in place: Place) -> Process {
    let bus = start(
      "/usr/bin/dbus-daemon", ["--session", "--nofork", "--nopidfile", "--address=unix:path=" + place.file("bus")], in: place)
    while !FileManager.default.fileExists(atPath: place.file("bus")), bus.isRunning { usleep(1000) }
    return bus
  }

  /// The other program has given or taken secrets, and then does not answer: `coffer`, and the process that is its client, hold what they
  /// hold.
  @Test(.timeLimit(.minutes(60)), arguments: [("import", "GetSecret=silent:16"), ("export", "GetSecret=silent:5")])
  func aTransferLeavesNothingInBothProcesses(direction: String, action: String) throws {
    let place = try Place([.text("kept", count: 40), .bytes("key-file", count: 64), .text("attribute", count: 24)], .locked)
    for command in ["vault init --key-file key-file --no-passphrase", "vault unlock --key-file key-file"] {
      let process = start(Place.program("coffer"), command.components(separatedBy: " "), in: place)
      process.waitUntilExit()
    }
    let keeper = try RunningAgent(of: place)
    let bus = startBus(in: place)
    defer { end(bus) }
    if direction == "export" { try keep(in: place) }
    let ready = Pipe()
    let provider = start(
      "/usr/bin/python3",
      [
        Self.clients.replacingOccurrences(of: "clients.py", with: "provider.py"), "items=8", "secret=kept",
        action,
      ], in: place, output: ready, input: Pipe())
    defer { end(provider) }
    #expect(ready.fileHandleForReading.availableData == Data("ready\n".utf8))
    let command = start(Place.program("coffer"), [direction, "secret-service"], in: place)
    defer { end(command) }
    while !FileManager.default.fileExists(atPath: place.file("asked")), command.isRunning { usleep(1000) }
    let child = Process()
    child.executableURL = URL(filePath: "/usr/bin/pgrep")
    child.arguments = ["-P", "\(command.processIdentifier)"]
    let found = Pipe()
    child.standardOutput = found
    try child.run()
    let number = try #require(
      Int32(
        String(decoding: try found.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self).trimmingCharacters(in: .newlines)))
    for (name, process) in [("coffer", command.processIdentifier), ("coffer-secrets", number), ("cofferd", keeper.process)] {
      let scan = try place.scan(process: process)
      #expect(scan.leaks.isEmpty, "\(name): \(scan.leaks)")
    }
  }

  /// As programs keep them.
  private func keep(in place: Place) throws {
    let ready = Pipe()
    let service = start(Place.program("coffer-secrets"), ["--ready-fd", "1"], in: place, output: ready)
    defer { end(service) }
    #expect(ready.fileHandleForReading.availableData == Data("ready\n".utf8))
    try run("/bin/sh", ["-c", "for n in 1 2 3 4 5 6 7 8; do secret-tool store --label=L n $n <kept || exit; done"], in: place)
  }

  private func start(_ program: String, _ arguments: [String], in place: Place, output: Pipe? = nil, input: Pipe? = nil)
    -> Process
  {
    let process = place.process(program, arguments)
    process.environment?["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + place.file("bus")
    process.standardOutput = output ?? FileHandle.nullDevice
    if let input { process.standardInput = input }
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { Issue.record(error) }
    return process
  }

  private func run(_ program: String, _ arguments: [String], in place: Place) throws {
    let process = start(program, arguments, in: place)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(program) \(arguments)")
  }

  /// Not by SIGTERM: a program that Foundation starts from a thread of Dispatch has that signal blocked.
  private func end(_ process: Process) {
    guard process.isRunning else { return }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
