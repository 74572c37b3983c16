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
    let bus = start(
      "/usr/bin/dbus-daemon", ["--session", "--nofork", "--nopidfile", "--address=unix:path=" + place.file("bus")], in: place)
    defer { end(bus) }
    while !FileManager.default.fileExists(atPath: place.file("bus")), bus.isRunning { usleep(1000) }
    let ready = Pipe()
    let service = start(Place.program("coffer-secrets"), ["--ready-fd", "1"], in: place, output: ready)
    defer { end(service) }
    #expect(ready.fileHandleForReading.availableData == Data("ready\n".utf8))

    for round in 1...2 {
      try run("/usr/bin/python3", [Self.clients, "plainly", "sent"], in: place)
      try run(
        "/bin/sh",
        ["-c", "secret-tool store --label=L a $(cat attribute) <encrypted && secret-tool lookup a $(cat attribute)"], in: place)
      let scan = try place.scan(process: service.processIdentifier)
      #expect(Set(scan.leaks.map(\.needle)) == ["attribute"], "\(round): \(scan.leaks); the attribute is the control")
      // Its connections stay.
      let kept = try place.scan(process: keeper.process)
      #expect(kept.leaks.allSatisfy { $0.needle == "attribute" }, "\(round): \(kept.leaks)")
    }
    end(service)
  }

  private func start(_ program: String, _ arguments: [String], in place: Place, output: Pipe? = nil) -> Process {
    let process = place.process(program, arguments)
    process.environment?["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + place.file("bus")
    process.standardOutput = output ?? FileHandle.nullDevice
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
