import CofferStorage
import CofferTesting
import Foundation
import Passphrases
import SecretMemory
import Testing
import VaultCore

/// The vectors of the reference implementation: files that break one rule of FORMAT.md each, with everything above it valid, and
/// files that must be accepted.
@Suite struct ReferenceVectorTests {
  struct Vector: Sendable {
    let name: String
    let rule: String
    let code: String
    let operation: String
  }

  enum Operation: String, CaseIterable { case open, get, list, verify, write }

  static let reference = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
    path: "Reference")

  static func python(_ arguments: [String], input: String? = nil) throws -> (status: Int32, output: Data) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-B"] + arguments
    process.currentDirectoryURL = reference
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, data)
  }

  static func contents(_ path: String) throws -> Secret? {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    return try Secret(testing: [UInt8](data))
  }

  static func credential(_ name: String, in folder: String) throws -> Credential {
    let base = folder + "/" + name
    if let recovery = try contents(base + ".recovery") { return try .recoveryKey(recovery) }
    let hasPassphrase = FileManager.default.fileExists(atPath: base + ".pass")
    let hasKey = FileManager.default.fileExists(atPath: base + ".key")
    switch (hasPassphrase, hasKey) {
    case (true, true): return try .passphrase(contents(base + ".pass")!, andKeyFile: try contents(base + ".key")!)
    case (true, false): return try .passphrase(contents(base + ".pass")!)
    case (false, true): return try .keyFile(contents(base + ".key")!)
    case (false, false): return try .keyFile(contents(folder + "/vector.key")!)
    }
  }

  static func open(_ name: String, in folder: String) throws -> Vault {
    let base = folder + "/" + name
    let anchor = FileManager.default.contents(atPath: base + ".anchor").map { MemoryAnchorStore([UInt8]($0)) }
    let store = try FileStore(at: base + ".coffer")
    return try Vault.open(store, with: credential(name, in: folder), anchor: anchor, deviceKey: contents(base + ".device"))
  }

  static func run(_ operation: Operation, on vault: inout Vault) throws {
    switch operation {
    case .open: break
    case .get:
      guard let entry = try vault.entry(Item(service: "github", account: "bob")) else { throw VaultError(.notFound) }
      _ = try vault.secret(of: entry.reference)
    case .list: _ = try vault.entries(in: .standard)
    case .verify: if let problem = try vault.verify().problems.first { throw problem }
    case .write: try vault.add(Item(service: "probe", account: "alice"), secret: Secret(testing: "probe"), at: .test)
    }
  }

  /// The operations in order; the code of the first refusal, and which operation met it.
  static func firstRefusal(_ name: String, in folder: String, upTo last: Operation) -> (operation: Operation, code: String)? {
    do {
      var vault = try open(name, in: folder)
      for operation in Operation.allCases where operation != .open {
        // `write` follows a look-up alone.
        if last == .write && (operation == .list || operation == .verify) { continue }
        if let refusal = code({ try run(operation, on: &vault) }) { return (operation, refusal) }
        if operation == last { return nil }
      }
      return nil
    } catch {
      return (.open, code { throw error } ?? "")
    }
  }

  @Test(.timeLimit(.minutes(60))) func everyRuleRefuses() throws {
    let directory = try Directory(inMemory: true)
    #expect(try Self.python(["make_refuse_vectors.py", directory.path]).status == 0)
    let index = try String(contentsOfFile: directory.file("index.txt"), encoding: .utf8)
    var rules: Set<String> = []
    var count = 0
    for line in index.split(separator: "\n") {
      let fields = line.components(separatedBy: "\t")
      let vector = Vector(name: fields[0], rule: fields[1], code: fields[2], operation: fields[3])
      for file in try FileManager.default.contentsOfDirectory(atPath: directory.path) where file.hasPrefix(vector.name + ".") {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory.file(file))
      }
      if vector.operation == "dump" {
        let expected = try String(contentsOfFile: directory.file(vector.name + ".dump"), encoding: .utf8)
        let seen = String(decoding: try dump(vector.name, in: directory), as: UTF8.self)
        if !seen.utf8.elementsEqual(expected.utf8) {
          let lines = zip(seen.split(separator: "\n"), expected.split(separator: "\n"))
          let first = lines.first { !$0.utf8.elementsEqual($1.utf8) }
          Issue.record("\(vector.name): \(String(describing: first).prefix(1000))")
        }
      } else {
        let expected = try #require(Operation(rawValue: vector.operation))
        let before = try Data(contentsOf: URL(filePath: directory.file(vector.name + ".coffer")))
        let refusal = Self.firstRefusal(vector.name, in: directory.path, upTo: expected)
        if refusal?.operation != expected || refusal?.code != vector.code {
          Issue.record("\(vector): \(String(describing: refusal))")
        }
        if vector.operation == "open", !FileManager.default.fileExists(atPath: directory.file(vector.name + ".coffer-wal")) {
          #expect(try Data(contentsOf: URL(filePath: directory.file(vector.name + ".coffer"))) == before, "\(vector) was changed")
        }
        rules.insert(vector.rule)
      }
      count += 1
    }
    #expect(count > 600)
    // Every rule of the specification has a vector.
    let format = try String(contentsOf: Self.reference.appending(path: "../../Vault/FORMAT.md"), encoding: .utf8)
    let numbered = Set(format.matches(of: #/\| (R[0-9]+) \|/#).map { String($0.1) })
    #expect(numbered.count >= 48)
    #expect(rules == numbered, "\(numbered.symmetricDifference(rules))")
  }

  func dump(_ name: String, in directory: Directory) throws -> Data {
    let vault = try Self.open(name, in: directory.path)
    // Records that no list contains are harmless and only noted; so are records beyond the limits of writers.
    let noted: [VaultError.Code] = [.recordUnlisted, .nodeUnlisted, .nameNotAllowed, .nameTooLong]
    let problems = try vault.verify().problems.filter { !noted.contains($0.code) }
    #expect(problems == [], "\(name)")
    return try Dump.lines(vault)
  }
}
