import CofferStorage
import CofferTesting
import Foundation
import SystemBench
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
  private var process: Child?

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
  private func launch() throws -> (Child, String) {
    let script = "\(limits); exec '\(AgentBench.program("cofferd").path)' --ready-fd 1 \(options)"
    let output = try Child.pair()
    defer { close(output.here) }
    let process = try child("/bin/sh", ["-c", "exec </dev/null 2>/dev/null; \(script)"], output: output.there)
    close(output.there)
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while unsafe recv(output.here, &byte, 1, 0) == 1, byte != 0x0A { line.append(byte) }
    return (process, String(decoding: line, as: UTF8.self))
  }

  /// Locked.
  func start() throws {
    let (process, line) = try launch()
    self.process = process
    try #require(line == "ready")
  }

  /// Starts a second agent and returns its line. Returns nil if it has replaced the first one.
  func startAnother() throws -> String? {
    let (process, line) = try launch()
    guard line == "ready" else {
      process.wait()
      return line
    }
    process.end()
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
    process?.end()
    process = nil
  }

  var processNumber: Int32 { process?.process ?? 0 }

  /// How it has ended by itself: its exit status; that of a signal, 128 and more.
  func waitForEnd() -> Int32? {
    defer { process = nil }
    return process?.wait()
  }

  func unlock() throws { try Keychain.connect(toAgentAt: places.agentSocket).unlock(with: .throwAway()) }

  // MARK: Its clients

  private var environment: [String: String] {
    // The file in which `make tsan` collects reports of races.
    let options = ProcessInfo.processInfo.environment["TSAN_OPTIONS"].map { ["TSAN_OPTIONS": $0] } ?? [:]
    return ["PATH": "/usr/bin:/bin", "COFFER_HOME": directory.path].merging(options) { $1 }
  }

  private var variables: [String] { environment.map { "\($0)=\($1)" } }

  private func child(_ program: String, _ arguments: [String], output: Int32) throws -> Child {
    try Child([program] + arguments, in: directory.path, environment: variables, descriptors: [output, output, output])
  }

  func command(_ program: String, _ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = environment
    process.currentDirectoryURL = directory
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    return process
  }

  /// `coffer` to its end, which it meets within five minutes.
  /// - Returns: How it ended and what it printed; 137 if it did not.
  func coffer(_ arguments: [String], input: String = "") throws -> Child.Outcome {
    let command = ["/usr/bin/timeout", "-s", "KILL", "300", AgentBench.program("coffer").path] + arguments
    return try Child.run(command, in: directory.path, environment: variables, input: input)
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
    return try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.process)/cwd")
  }

  func usage() throws -> Usage {
    let process = try #require(process)
    let path = "/proc/\(process.process)"
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
