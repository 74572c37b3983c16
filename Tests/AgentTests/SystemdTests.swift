import Foundation
import SystemBench
import Testing

/// The units that `make install` puts in place, run by the systemd of this machine as process 1 of namespaces of its own.
@Suite(.enabled(if: SystemBench.isPossible, "takes the superuser: only that one can boot systemd")) struct SystemdTests {
  private static let scripts = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Systemd").path

  /// - Returns: The lines that the script printed.
  private func boot(_ script: String) throws -> [String] {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    let programs = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    process.arguments = [Self.scripts + "/boot", programs, Self.scripts + "/" + script]
    let (output, errors) = (Pipe(), FileManager.default.temporaryDirectory.appending(path: "coffer-systemd-\(UUID())"))
    try Data().write(to: errors)
    defer { try? FileManager.default.removeItem(at: errors) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let said = try String(contentsOf: errors, encoding: .utf8)
    #expect(process.terminationStatus == 0, "\(said)")
    return text.split(separator: "\n").map(String.init)
  }

  @Test(.timeLimit(.minutes(60))) func servicesGetTheirSecretsAndNoOthers() throws {
    #expect(
      try boot("credentials.sh") == [
        "a vault of root's: yes", "unlocked: yes",
        "starts without a grant: no", "status: 243, ran: no",
        "granted: yes", "starts with a grant: yes", "gets each byte", "another service starts: no", "logged 3 times",
        "waits while locked", "gets each byte after the unlock",
        "the agent's end: status 243, ran: no",
        "starts locked, with a limit: no", "not run",
      ])
  }

  @Test(.timeLimit(.minutes(60))) func aServerOpensItsVaultAtEachStart() throws {
    #expect(
      try boot("server.sh") == [
        "after a restart the service gets hunter2", "the vault is unlocked",
        "after a kill the service gets hunter2", "after a stop the service gets hunter2",
        "a backup and a drill", "True True False", "1 backup by the timer's unit, active", "no socket is left", "1 vault is left",
      ])
  }

  @Test(.timeLimit(.minutes(60))) func aKeyOrVaultThatDoesNotFitEndsNoServerForGood() throws {
    #expect(
      try boot("failures.sh") == [
        "hunter2 (at the start)", "hunter2 (after new keys)",
        "another key: locked, active, active", "hunter2 (unlocked by hand)",
        "damaged: locked, active, active", "hunter2 (restored)",
        "deploy: unlocked", "the start fails", "4 more starts, and no others",
        // A draft, converted and then opened by the agent.
        "273 records, all sound", "273 records, all sound",
      ])
  }
}
