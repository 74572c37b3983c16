import CofferStorage
import CofferTesting
import Foundation
import Testing
import VaultCore
import Waiting

@testable import Coffer

/// A real `cofferd` with a vault of its own, on which it was started.
final class DaemonBench {
  let directory: URL
  let places: Places
  private let limits: String
  private let options: String
  private var process: Process?

  /// - Parameters:
  ///   - limits: Shell commands that run before the shell executes the agent.
  ///   - options: Options of the agent.
  init(limits: String = ":", options: String = "") throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "coffer-daemon-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let home = directory.path
    places = try Places { $0 == "COFFER_HOME" ? home : nil }
    self.limits = limits
    self.options = options
    try Vault.throwAway(in: FileStore.create(at: places.vault)).close()
    try Data(repeating: 0x54, count: 64).write(to: directory.appending(path: "key"))
    unsafe chmod(directory.path + "/key", 0o600)
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: directory)
  }

  /// - Returns: The line that it writes: "ready", or the reason why not.
  @discardableResult private func launch(_ output: Pipe) throws -> (Process, String) {
    let process = command("/bin/sh", ["-c", "\(limits); exec '\(AgentBench.program("cofferd").path)' --ready-fd 1 \(options)"])
    process.standardOutput = output
    try process.run()
    var line = Data()
    while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data([0x0A]) { line += byte }
    return (process, String(decoding: line, as: UTF8.self))
  }

  /// Locked.
  func start() throws {
    let (process, line) = try launch(Pipe())
    self.process = process
    try #require(line == "ready")
  }

  /// Starts a second agent and returns its line. Returns nil if it has replaced the first one.
  func startAnother() throws -> String? {
    let (process, line) = try launch(Pipe())
    guard line == "ready" else {
      process.waitUntilExit()
      return line
    }
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    return nil
  }

  /// Until it is told to go on. A signal takes its time to reach each thread.
  func stop() throws {
    Glibc.kill(processNumber, SIGSTOP)
    let tasks = "/proc/\(processNumber)/task"
    try wait(for: "each thread of the agent has stopped") {
      try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
        let status = try String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
        return status.contains("\nState:\tT")
      }
    }
  }

  /// Without a warning.
  func kill() {
    guard let process else { return }
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    self.process = nil
  }

  var processNumber: Int32 { process?.processIdentifier ?? 0 }

  /// How it has ended by itself.
  func waitForEnd() -> Int32? {
    guard let process else { return nil }
    process.waitUntilExit()
    self.process = nil
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }

  func unlock() throws { try Keychain.connect(toAgentAt: places.agentSocket).unlock(with: .throwAway()) }

  // MARK: Its clients

  func command(_ program: String, _ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = ["PATH": "/usr/bin:/bin", "COFFER_HOME": directory.path]
    // The file in which `make tsan` collects reports of races.
    process.environment?["TSAN_OPTIONS"] = ProcessInfo.processInfo.environment["TSAN_OPTIONS"]
    process.currentDirectoryURL = directory
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    return process
  }

  /// `coffer` to its end, which it meets within five minutes.
  /// - Returns: How it ended, and what it said; 124 where it did not.
  func coffer(_ arguments: [String], input: String? = nil) throws -> (status: Int32, output: String) {
    let process = command("/usr/bin/timeout", ["-s", "KILL", "300", AgentBench.program("coffer").path] + arguments)
    let output = Pipe()
    process.standardOutput = output
    let pipe = Pipe()
    if input != nil { process.standardInput = pipe }
    try process.run()
    if let input {
      // Where it has ended already, nobody reads.
      try? pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
      try pipe.fileHandleForWriting.close()
    }
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationReason == .exit ? process.terminationStatus : 124, text)
  }

  // MARK: Resources

  struct Usage {
    /// In KiB.
    var resident = 0
    /// Locked memory, in KiB.
    var locked = 0
    var threads = 0
    var descriptors = 0
  }

  /// Where it is itself, which nobody but the superuser can see.
  func workingDirectory() throws -> String {
    let process = try #require(process)
    return try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.processIdentifier)/cwd")
  }

  func usage() throws -> Usage {
    let process = try #require(process)
    let path = "/proc/\(process.processIdentifier)"
    func number(_ name: String, in text: String) -> Int {
      text.split(separator: "\n").first { $0.hasPrefix(name + ":") }?.split(whereSeparator: \.isWhitespace).dropFirst().first
        .flatMap {
          Int($0)
        } ?? 0
    }
    let status = try String(contentsOfFile: path + "/status", encoding: .utf8)
    return Usage(
      resident: number("VmRSS", in: status), locked: number("VmLck", in: status), threads: number("Threads", in: status),
      descriptors: try FileManager.default.contentsOfDirectory(atPath: path + "/fd").count)
  }
}
