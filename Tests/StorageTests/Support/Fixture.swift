import CSQLite
import Children
import CofferStorage
import Glibc
import SecretMemory
import VaultCore

/// A directory for one test, removed with it, and a vault in it.
final class Fixture {
  let directory: String
  var path: String { "\(directory)/vault.coffer" }

  /// - Parameter withVault: Makes a vault with a header, a slot, a node and three records.
  init(withVault: Bool = true) throws {
    var template = Array("/tmp/coffer-storage-XXXXXX".utf8CString)
    precondition(unsafe mkdtemp(&template) != nil)
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if withVault { try FileStore.create(at: path).commit { _ in Self.change } }
  }

  deinit { run("rm", "-rf", directory) }

  static var change: Change {
    var change = Change()
    change.header[0] = Array(repeating: 1, count: 256)
    change.header[1] = Array(repeating: 2, count: 160)
    change.nodes[[]] = Array(repeating: 3, count: 144)
    for byte in [UInt8(1), 2, 0xFF] {
      let record = Self.record(byte)
      change.records[record.head.id] = record
    }
    return change
  }

  static func identifier(_ byte: UInt8) -> Identifier { Identifier(Array(repeating: byte, count: 16))! }

  static func record(_ byte: UInt8, count: Int = 128) -> SealedRecord {
    SealedRecord(
      id: identifier(byte), group: .zero, meta: Array(repeating: 0, count: 16), attributes: Array(repeating: byte, count: count),
      secret: Array(repeating: byte, count: count))
  }

  /// A change that adds one record.
  static func adding(_ byte: UInt8) -> Change {
    var change = Change()
    change.records[identifier(byte)] = record(byte)
    return change
  }

  /// Runs SQL on the file, as somebody would who does not care what Coffer expects.
  func raw(_ sql: String, file: String? = nil) {
    var database: OpaquePointer?
    precondition(unsafe sqlite3_open(file ?? path, &database) == SQLITE_OK)
    let result = unsafe sqlite3_exec(database, sql, nil, nil, nil)
    if result != SQLITE_OK { fatalError(unsafe String(cString: sqlite3_errmsg(database))) }
    precondition(unsafe sqlite3_close(database) == SQLITE_OK)
  }

  func read() -> [UInt8] { Self.read(path) }

  static func read(_ path: String) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY)
    precondition(file >= 0)
    defer { close(file) }
    var status = stat()
    unsafe fstat(file, &status)
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
    precondition(count == bytes.count)
    return bytes
  }

  func write(_ bytes: [UInt8], mode: mode_t = 0o600) { Self.write(bytes, to: path, mode: mode) }

  static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o600) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
    precondition(file >= 0)
    defer { close(file) }
    let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
    precondition(count == bytes.count)
    fchmod(file, mode)
  }

  /// The names in the directory, sorted.
  var names: [String] { run("ls", "-A", directory).sorted() }
}

/// The code that `body` throws, or nil.
func code(_ body: () throws -> Void) -> StorageError.Code? {
  do { try body() } catch { return (error as? StorageError)?.code }
  return nil
}

extension FileStore {
  func recordCount() throws -> Int {
    try read { rows in
      var count = 0
      try rows.forEachRecord(under: []) { _, _ in count += 1 }
      return count
    }
  }
}
