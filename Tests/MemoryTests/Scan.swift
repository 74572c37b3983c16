import Foundation
import Testing

/// Something that must not be found. Random, so that nothing else looks like it.
struct Needle: Sendable {
  let name: String
  let bytes: [UInt8]

  var line: String { "\(name) \(bytes.map { String(format: "%02x", $0) }.joined())\n" }

  static func text(_ name: String, count: Int) -> Needle {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    return Needle(name: name, bytes: (0..<count).map { _ in letters.randomElement()! })
  }

  static func bytes(_ name: String, count: Int) -> Needle {
    Needle(name: name, bytes: (0..<count).map { _ in .random(in: 0...255) })
  }
}

/// The findings of the scanner in one program.
struct Scan {
  struct Hit: CustomStringConvertible {
    let phase: String
    let isInArena: Bool
    let needle: String
    let encoding: String
    let description: String
  }

  var phases: [String] = []
  /// In bytes: what could be read, and what nobody can read.
  var read = 0
  var unreadable = 0
  var hits: [Hit] = []
  var ending = ""

  init(report: String) {
    for line in report.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      switch words[0] {
      case "scan":
        phases.append(words[1])
        read += Int(words[2]) ?? 0
        unreadable += Int(words[3]) ?? 0
      case "hit":
        hits.append(
          Hit(phase: words[1], isInArena: words[2] == "arena", needle: words[3], encoding: words[4], description: String(line)))
      default: ending = String(line)
      }
    }
  }

  var leaks: [Hit] { hits.filter { !$0.isInArena } }
  func arena(_ phase: String) -> [Hit] { hits.filter { $0.isInArena && $0.phase == phase } }
}

/// A directory for one test, with the needles in it. Programs run here under the scanner.
final class Place {
  enum Memory: Sendable, CaseIterable {
    /// `memfd_secret(2)`, where the kernel has it: nobody can read it.
    case secret
    /// Ordinary locked memory, which the scanner reads.
    case locked
  }

  let path: String
  let needles: [Needle]
  let memory: Memory
  /// Runs all programs as this user.
  var user: UInt32?

  init(_ needles: [Needle], _ memory: Memory = .secret) throws {
    path = NSTemporaryDirectory() + "/coffer-memory-" + UUID().uuidString
    self.needles = needles
    self.memory = memory
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try write("needles", Data(needles.map(\.line).joined().utf8))
    for needle in needles { try write(needle.name, Data(needle.bytes)) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  func write(_ name: String, _ content: Data) throws {
    try content.write(to: URL(filePath: file(name)))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file(name))
  }

  func content(_ name: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(filePath: file(name)))) }

  func give(to user: UInt32) throws {
    self.user = user
    for name in try FileManager.default.contentsOfDirectory(atPath: path).map(file) + [path] { unsafe chown(name, user, user) }
  }

  static func program(_ name: String) -> String {
    let folder = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
    return (folder ?? URL(filePath: ".build/debug")).appending(path: name).path
  }

  var environment: [String: String] { ["PATH": "/usr/bin:/bin", "HOME": path, "COFFER_HOME": file("coffer"), "TERM": "xterm"] }

  func process(_ program: String, _ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    if let user {
      process.executableURL = URL(filePath: "/usr/bin/setpriv")
      process.arguments = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", program] + arguments
    }
    process.environment = environment
    process.currentDirectoryURL = URL(filePath: path)
    process.standardInput = FileHandle.nullDevice
    return process
  }

  /// - Parameters:
  ///   - descriptors: by number, a needle's or another file's name.
  ///   - typed: needles that are typed on a terminal, one for each question.
  ///   - made: a file whose first line is a needle too.
  func scan(
    _ name: String, _ arguments: [String], descriptors: [Int32: String] = [:], typed: [String] = [], made: String? = nil
  ) throws -> Scan {
    var options = ["run", "-n", file("needles"), "-r", file("report")]
    if memory == .locked { options.append("-f") }
    for (number, name) in descriptors { options += ["-d", "\(number)=\(file(name))"] }
    if let made { options += ["-o", "\(made)=\(file(made))"] }
    if !typed.isEmpty {
      var lines = Data()
      for name in typed { lines += Data(try content(name)) + Data("\n".utf8) }
      try write("typed", lines)
      if let user { unsafe chown(file("typed"), user, user) }
      options += ["-t", file("typed")]
    }
    let process = process(Self.program("MemoryScanner"), options + ["--", Self.program(name)] + arguments)
    process.standardOutput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let scan = Scan(report: String(decoding: try content("report"), as: UTF8.self))
    #expect(process.terminationStatus == 0 && scan.phases.last == "exit" && scan.read > 1 << 20, "\(said)")
    return scan
  }

  /// The keys of a vault become needles. The reference implementation works them out from the file.
  /// - Returns: How many there are.
  @discardableResult func addKeys(ofVault vault: String, keyFile: String, _ others: String...) throws -> Int {
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "keys.py").path
    let reference = process("/usr/bin/env", ["python3", script] + ([vault, keyFile] + others).map(file))
    let output = Pipe()
    reference.standardOutput = output
    try reference.run()
    let keys = try output.fileHandleForReading.readToEnd() ?? Data()
    reference.waitUntilExit()
    #expect(reference.terminationStatus == 0)
    try write("needles", Data(content("needles")) + keys)
    return keys.split(separator: 0x0A).count
  }

  /// The needles in a process that runs. Takes root.
  func scan(process number: Int32) throws -> Scan {
    let scan = try scan(["process", file("needles"), "\(number)"])
    #expect(scan.phases == ["now"] && scan.read > 1 << 20)
    return scan
  }

  /// The needles in files.
  func scan(files: [String]) throws -> Scan {
    let scan = try scan(["file", file("needles")] + files)
    #expect(scan.phases.count == files.count)
    return scan
  }

  private func scan(_ options: [String]) throws -> Scan {
    let process = process(Self.program("MemoryScanner"), options)
    // It reads what others have started, whoever they are.
    (process.executableURL, process.arguments) = (URL(filePath: Self.program("MemoryScanner")), options)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let report = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return Scan(report: report)
  }
}
