import CofferFiles
package import CofferStorage
import Glibc
package import VaultCore

/// The time of the last `restore --dry-run` that went well: a backup is worth what its last restore has shown.
package enum Drill {
  /// After this long another one is due, in seconds: 180 days.
  package static let interval: Int64 = 180 * 86_400

  package static func path(in places: Places) -> String { Path.join(places.state, "restore-checked") }

  static func note(at path: String) throws {
    try Files.makeDurableDirectory(Path.parent(of: path))
    let file = try File<StorageError>(path, O_WRONLY | O_CREAT | O_TRUNC)
    // On a full disk its time is enough.
    try? file.write(Array("The time of this file is that of the last trial restore of a backup.\n".utf8))
  }

  /// nil if there was none.
  package static func last(in places: Places) throws -> Timestamp? {
    try Files.status(at: path(in: places)).map { Timestamp(secondsSince1970: $0.modified / 1_000_000_000) }
  }
}
