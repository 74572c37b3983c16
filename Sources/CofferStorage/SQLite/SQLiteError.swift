import CSQLite
internal import CofferFiles
import Glibc

extension StorageError {
  /// The error for a result code of SQLite. `errno` is the system's, as far as SQLite kept it.
  ///
  /// Whether a failure leaves the outcome in doubt is not in the code: only the caller knows whether it was committing.
  package init(sqlite result: Int32, errno number: Int32, _ message: String) {
    let reason = number == 0 ? message : "\(message) (\(ErrorNumber.text(of: number)))"
    self.init(Self.code(sqlite: result, errno: number), reason)
  }

  private static func code(sqlite result: Int32, errno number: Int32) -> Code {
    switch result & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
    case SQLITE_FULL: .full
    case SQLITE_NOMEM: .outOfMemory
    case SQLITE_NOTADB: .storageDamaged  // The first 100 bytes were right: what follows them is not.
    case SQLITE_CORRUPT: .storageDamaged
    case SQLITE_INTERRUPT: .storageDamaged  // A walk over the schema that would not have ended.
    case SQLITE_SCHEMA: .schemaAltered
    case SQLITE_TOOBIG, SQLITE_MISMATCH: .columnMismatch
    // A row that its own index denies, or that the format's constraints do not allow: the file contradicts itself.
    case SQLITE_CONSTRAINT, SQLITE_ERROR: .storageDamaged
    case SQLITE_PERM, SQLITE_AUTH: .accessDenied
    case SQLITE_READONLY: result == sqliteReadOnlyMoved ? .replaced : .readOnly
    case SQLITE_CANTOPEN: result == sqliteCannotOpenLink ? .symbolicLink : code(errno: number, denied: .readOnly)
    case SQLITE_IOERR:
      switch result {
      case sqliteShortRead: .storageDamaged
      case sqliteNoMemory: .outOfMemory
      default: code(errno: number, denied: .io)
      }
    default: .io
    }
  }

  /// The error numbers of SQLite that name a cause: after a failed read, errno may be of an earlier call.
  private static func code(errno number: Int32, denied: Code) -> Code {
    switch StorageError(errno: number, "").code {
    case .accessDenied: denied
    case .symbolicLink: .io
    case let code: code
    }
  }

  /// Whether a call failed in fsync, which must not be repeated: the kernel has dropped what it could not write.
  static func isFailedSync(_ result: Int32) -> Bool {
    result == SQLITE_IOERR | (4 << 8) || result == SQLITE_IOERR | (5 << 8)
  }
}

// Macros with a shift are not imported. https://sqlite.org/rescode.html
private let sqliteReadOnlyMoved = SQLITE_READONLY | (4 << 8)
private let sqliteCannotOpenLink = SQLITE_CANTOPEN | (6 << 8)
private let sqliteShortRead = SQLITE_IOERR | (2 << 8)
private let sqliteNoMemory = SQLITE_IOERR | (12 << 8)
