package import CofferFiles
import Glibc

extension StorageError: FileFailure {
  package init(_ error: FileError) { self.init(error, missing: .io) }

  /// - Parameter missing: The code if a file or directory of the path is missing, which means something else for each file.
  init(_ error: FileError, missing: Code) {
    let code: Code =
      switch error.code {
      case .missing, .notADirectory: missing
      case .symbolicLink: .symbolicLink
      case .accessDenied: .accessDenied
      case .readOnly: .readOnly
      case .full: .full
      case .descriptorsExhausted: .descriptorsExhausted
      case .outOfMemory: .outOfMemory
      default: .io
      }
    self.init(code, error.detail)
  }

  init(errno number: Int32, _ what: String, missing: Code) { self.init(FileError(errno: number, what), missing: missing) }
}

typealias OpenFile = File<StorageError>
typealias Files = CofferFiles.Files<StorageError>
typealias NewFile = CofferFiles.NewFile<StorageError>

extension CofferFiles.Files<StorageError> {
  /// Makes a directory whose name is on the disk, and those above: a vault in one that a power loss takes away would be lost with it.
  package static func makeDurableDirectory(_ path: String) throws(StorageError) {
    try makeDirectory(path) { parent throws(StorageError) in try synchronizeDirectory(parent) }
  }

  /// Runs `body` in a directory that is there, made durably if it was missing. New directories are removed at the end if they are empty.
  package static func withDurableDirectory<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    var made: [String] = []
    var missing = path
    while !missing.isEmpty, missing != "/", try status(at: missing, followingLinks: true) == nil {
      made.append(missing)
      missing = Path.parent(of: missing)
    }
    // rmdir(2) refuses a directory that is not empty.
    defer { for path in made { unsafe rmdir(path) } }
    try makeDurableDirectory(path)
    return try body()
  }
}
