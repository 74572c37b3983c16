import Foundation
import Testing

/// The settings of a unit that concern system calls, as systemd's own tables resolve them.
struct UnitFilter {
  /// The lines of the unit.
  let lines: [String]

  init(_ path: String) throws {
    lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// Each value that a setting has, its words.
  func words(_ setting: String) -> [[String]] {
    lines.filter { $0.hasPrefix("\(setting)=") }.map { $0.dropFirst(setting.count + 1).split(separator: " ").map(String.init) }
  }

  /// The system calls that pass.
  func allowed() throws -> Set<String> {
    var allowed: Set<String> = []
    for rule in words("SystemCallFilter") {
      if rule[0].hasPrefix("~") {
        allowed.subtract(try Self.expand([String(rule[0].dropFirst())] + rule.dropFirst()))
      } else {
        allowed.formUnion(try Self.expand(rule))
      }
    }
    return allowed
  }

  /// A group of system calls with those in it, and so on.
  private static func expand(_ names: [String]) throws -> Set<String> {
    var found: Set<String> = []
    for name in names {
      guard name.hasPrefix("@") else {
        found.insert(name)
        continue
      }
      let listed = try analyze("syscall-filter", "--no-pager", name).output.split(separator: "\n").dropFirst()
        .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
      try #require(!listed.isEmpty)
      found.formUnion(try expand(listed))
    }
    return found
  }

  /// The system calls of a trace by strace(1) since `program` was executed.
  static func called(in trace: URL, from program: String) throws -> Set<String> {
    let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
    let begin = try #require(lines.firstIndex { $0.contains("execve(") && $0.contains(program) })
    return Set(
      lines[begin...].compactMap { line in
        line.drop { $0.isNumber }.trimmingPrefix { $0 == " " }.split(separator: "(").first.map(String.init)
      }.filter { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } })
  }

  @discardableResult static func analyze(_ arguments: String..., environment: [String: String] = [:]) throws -> (
    status: Int32, output: String
  ) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/systemd-analyze")
    process.arguments = arguments
    process.environment = ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}
