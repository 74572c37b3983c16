import Children
import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import Testing
import VaultCore

/// For tests that act as two users, or mount file systems.
let isSuperuser: ConditionTrait = .enabled(if: geteuid() == 0, "only the superuser can act as another user")

/// A directory for one test, with the place of a space in it; removed with it.
final class Place {
  static let space = Identifier([UInt8](repeating: 7, count: 16)) ?? .zero

  let root: String
  var space: String { "\(root)/coffer/1/07070707070707070707070707070707" }
  var log: String { "\(space)/log" }
  var objects: String { "\(space)/obj" }
  var unfinished: String { "\(space)/new" }

  init() throws {
    var template = Array("/tmp/coffer-engine-XXXXXX".utf8CString)
    precondition(unsafe mkdtemp(&template) != nil)
    root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    _ = try DirectoryEngine(root, space: Self.space, .new)
  }

  deinit { run("rm", "-rf", root) }

  func engine() throws -> DirectoryEngine { try DirectoryEngine(root, space: Self.space) }

  func file(_ number: UInt64) -> String { "\(log)/\(TemporaryName.hexadecimal(number))" }

  /// The names in a directory, in order.
  func names(_ directory: String) -> [String] { run("ls", "-A", directory) }

  func write(_ bytes: [UInt8], at path: String) throws {
    try OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC).write(bytes)
  }

  /// The lines of a process that uses the engine; see `EngineProbe`.
  func probe(_ arguments: String..., under tracer: [String] = []) -> [String] {
    run(tracer + [program("EngineProbe"), root] + arguments)
  }

  /// A process whose calls of the system fail.
  func probe(_ arguments: String..., injecting injection: String) -> [String] {
    let call = String(injection.prefix { $0 != ":" })
    return run(
      ["strace", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(injection)", program("EngineProbe"), root]
        + arguments)
  }

  /// The lines of all entries. Each is checked to be whole.
  func lines() throws -> [String] {
    var lines: [String] = []
    let engine = try engine()
    while case let batch = try engine.read(from: UInt64(lines.count), limit: 500), !batch.isEmpty {
      for entry in batch {
        #expect(entry.number == UInt64(lines.count))
        let copies = String(decoding: entry.bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let line = String(copies.first ?? "")
        let times = line.split(separator: " ").last.flatMap { Int($0) }
        #expect(copies.last == "" && copies.dropLast().allSatisfy { $0 == line } && copies.count - 1 == times, "\(entry.number)")
        lines.append("\(entry.number) \(line)")
      }
    }
    return lines
  }
}

func code(_ body: () throws -> Void) -> FileError.Code? {
  do { try body() } catch { return (error as? FileError)?.code }
  return nil
}
