import CofferConsole
import CofferFiles
import CofferStorage
import Glibc
import VaultCore

/// Why the last log-in left the vault locked, for `coffer doctor`: at a log-in no message of `coffer` is shown.
struct LogInNote {
  let time: Timestamp
  let problem: String

  private static let byteLimit = 4096

  private static func path() throws -> String { Path.join(try Places { Environment[$0] }.state, "log-in") }

  /// Returns nil if the last log-in has opened the vault, or if there was none.
  static func last() throws -> LogInNote? {
    guard let file = try File<StorageError>.open(path(), O_RDONLY) else { return nil }
    let line = String(decoding: try file.read(upTo: byteLimit), as: UTF8.self).prefix { $0 != "\n" }
    return LogInNote(
      time: Timestamp(secondsSince1970: try file.status().modified / 1_000_000_000), problem: String(line).escapingControls())
  }

  /// Carries out an unlock. If this process is killed meanwhile, the note says so.
  static func keeping(_ unlock: () throws -> Void) throws {
    let path = try path()
    // Not in the home of a user who has never used Coffer.
    if try Files<StorageError>.status(at: Path.parent(of: path)) != nil {
      write("the unlock was ended before it was done", to: path)
    }
    do { try unlock() } catch {
      let failure = Failure(error)
      switch failure.status {
      case .noVault: try? Files<StorageError>.remove(path)
      case .wrongPassphrase:
        write("the password does not open the vault; coffer vault passphrase makes it the passphrase", to: path)
      default: write(failure.message, to: path)
      }
      throw failure
    }
    try? Files<StorageError>.remove(path)
  }

  /// Errors are left out: the result of the unlock is what counts.
  private static func write(_ text: String, to path: String) {
    try? Files<StorageError>.makeDurableDirectory(Path.parent(of: path))
    guard let file = try? File<StorageError>.open(path, O_WRONLY | O_CREAT | O_TRUNC) else { return }
    try? file.write(Array("\(text)\n".utf8))
  }

  var line: String { "log-in of \(time.text): \(problem)" }

  var json: JSON { .object([("time", .integer(time.secondsSince1970)), ("problem", .text(problem))]) }
}
