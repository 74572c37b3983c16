import Foundation
import Testing

/// An app's container, and programs that run in it as if started by `coffer app run`.
final class AppPrograms {
  struct Silent: Error, CustomStringConvertible {
    let description: String
  }

  let root: URL
  let program: URL

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "coffer-widgets-\(UUID())")
    try FileManager.default.createDirectory(
      at: root.appending(path: "Library"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let products = try #require(Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent())
    program = products.appending(path: "WidgetProbe")
    try #require(FileManager.default.isExecutableFile(atPath: program.path), "\(program.path)")
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  var environment: [String: String] { ["COFFER_APP": "a.com.example.widgets", "COFFER_CONTAINER": root.path] }

  /// The directory for requests.
  var requests: URL { root.appending(path: "Library/Widgets") }

  /// - Parameter under: A program that starts it, such as strace(1).
  func start(_ arguments: [String], under: [String] = [], isApp: Bool = true) throws -> RunningProgram {
    let words = under + [program.path] + arguments
    var environment = ProcessInfo.processInfo.environment
    environment["SWIFT_BACKTRACE"] = "enable=no"
    if isApp { environment.merge(self.environment) { $1 } }
    return try RunningProgram(words, environment)
  }

  /// Runs a program to its end. If a signal ended it, its status is 128 or more.
  @discardableResult func run(_ arguments: String..., under: [String] = [], isApp: Bool = true) throws -> (
    status: Int32, output: String, errors: String
  ) {
    let running = try start(arguments, under: under, isApp: isApp)
    let output = try running.rest()
    return (running.status, output, running.errors)
  }
}

/// A program whose output is read line by line.
final class RunningProgram {
  /// In seconds.
  private static let patience = 300.0

  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())
  private let errorFile: URL
  private var text = ""

  init(_ words: [String], _ environment: [String: String]) throws {
    errorFile = FileManager.default.temporaryDirectory.appending(path: "coffer-widgets-\(UUID()).errors")
    try Data().write(to: errorFile)
    process.executableURL = URL(filePath: words[0].hasPrefix("/") ? words[0] : "/usr/bin/\(words[0])")
    process.arguments = Array(words.dropFirst())
    process.environment = environment
    process.standardInput = input
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errorFile)
    try process.run()
  }

  deinit {
    if process.isRunning { kill() }
    try? FileManager.default.removeItem(at: errorFile)
  }

  var errors: String { (try? String(contentsOf: errorFile, encoding: .utf8)) ?? "" }

  var status: Int32 {
    process.waitUntilExit()
    return process.terminationReason == .uncaughtSignal ? 128 + process.terminationStatus : process.terminationStatus
  }

  /// The output so far.
  var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// Reads until the output has these lines, in any order.
  func wait(for expected: String...) throws {
    while !Set(lines).isSuperset(of: expected) || !text.hasSuffix("\n") {
      guard try read() else { throw silence(expected, lines, errors) }
    }
  }

  /// Ends the program, and reads the rest of its output.
  func rest() throws -> String {
    try input.fileHandleForWriting.close()
    while try read() {}
    process.waitUntilExit()
    return text
  }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// - Returns: False at the end.
  private func read() throws -> Bool {
    var entry = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, Int32(Self.patience * 1000)) == 1 else { throw silence([], lines, errors) }
    let data = output.fileHandleForReading.availableData
    text += String(decoding: data, as: UTF8.self)
    return !data.isEmpty
  }

  private func silence(_ expected: [String], _ lines: [String], _ errors: String) -> AppPrograms.Silent {
    AppPrograms.Silent(description: "waited for \(expected), has said \(lines.suffix(50)); errors: \(errors)")
  }
}
