package import CofferFiles
internal import Glibc

/// Emptying what an app can make again.
package struct Purge: Sendable {
  /// The emptied classes, in the order of the table.
  package private(set) var emptied: [DirectoryClass] = []

  /// Empties `tmp`, and `Library/Caches` too where the disk is low. The directories stay.
  /// - Throws: `running`, and nothing is touched then; what the system says.
  package init(_ container: AppContainer, isDiskLow: Bool) throws(FileError) {
    let lock = try RunningLock.excludingPrograms(of: container.app, in: container.siblings)
    for kind in DirectoryClass.inContainer {
      let isDue =
        switch kind.rules.purge {
        case .never: false
        case .whenStopped: true
        case .whenStoppedAndDiskLow: isDiskLow
        }
      guard isDue else { continue }
      try container.directory(kind).removeContents()
      emptied.append(kind)
    }
    withExtendedLifetime(lock) {}
  }

  /// Whether less than a twentieth of the file system is left for its users.
  package static func isDiskLow(at directory: OpenDirectory) throws(FileError) -> Bool {
    var status = statvfs()
    guard unsafe fstatvfs(directory.number, &status) == 0 else { throw FileError(errno: errno, directory.path) }
    return isLow(available: UInt64(status.f_bavail), of: UInt64(status.f_blocks))
  }

  package static func isLow(available: UInt64, of total: UInt64) -> Bool { available < total / 20 }
}
