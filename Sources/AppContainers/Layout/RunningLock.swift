package import CofferFiles
internal import Glibc

/// Whether a program of an app is running: each holds a shared lock on `.APP.running` beside the container for as long as it
/// lives, and the kernel releases it at the end of the process. Emptying, copying or removing a container needs the lock
/// exclusively.
package final class RunningLock: Sendable {
  /// In milliseconds. A process that has the lock and starts another one shares it with that for an instant, until exec closes
  /// it there.
  private static let patience = 500

  private let file: OpenFile
  private let name: FileName
  private let directory: OpenDirectory
  package var number: Int32 { file.number }

  private init(_ file: OpenFile, _ name: FileName, in directory: OpenDirectory) {
    self.file = file
    self.name = name
    self.directory = directory
  }

  /// For a program of the app: shared with the others of the app. A program that is started with the descriptor keeps it.
  /// - Throws: `busy` where the container is just being emptied, copied or removed; what the system says.
  package static func running(_ app: FileName, in containers: OpenDirectory) throws(FileError) -> RunningLock {
    try take(.shared, app, in: containers, orThrow: .busy, "\(app): its container is in use by coffer: try again")
  }

  /// - Throws: `running`.
  package static func excludingPrograms(of app: FileName, in containers: OpenDirectory) throws(FileError) -> RunningLock {
    try take(.exclusive, app, in: containers, orThrow: .running, "\(app)")
  }

  private static func take(
    _ kind: FileLock.Kind, _ app: FileName, in containers: OpenDirectory, orThrow code: FileError.Code, _ detail: String
  ) throws(FileError) -> RunningLock {
    let name = try app.beside("running")
    while true {
      let file = try containers.opened(name, O_RDWR | O_CREAT)
      try FileLock(on: file.number).take(
        kind, until: Deadline(milliseconds: patience), pause: LockPause(20_000, upTo: 20_000), file.path,
        orThrow: FileError(code, detail))
      // One that was removed before it was taken keeps no program out.
      if let there = try containers.status(name), there.isSameFile(as: try file.status()) {
        return RunningLock(file, name, in: containers)
      }
    }
  }

  /// With the app. Held until the end all the same.
  package func remove() throws(FileError) { try directory.remove(name) }
}
