internal import CofferFiles
import Glibc

/// Until it is placed the process holds a lock on a new file, which the kernel gives back when the process dies: a file without a lock
/// was left behind.
extension CofferFiles.NewFile<PreferenceError> {
  private static var prefix: String { ".coffer-" }
  private static var suffix: String { ".new" }

  /// The content is on the disk at return.
  /// - Throws: `accessDenied`, `readOnly`, `full`, `descriptorsExhausted`, `io`.
  static func written(in directory: PreferenceDirectory, _ bytes: [UInt8]) throws(PreferenceError) -> NewFile {
    while true {
      let name = prefix + TemporaryName.hexadecimal(.random(in: 0 ... .max)) + suffix
      let new = try NewFile(at: directory.file(name))
      // Another process may have looked for leftovers between the two calls. A file system without locks has no such processes.
      _ = FileLock(on: new.file.number).take(until: Deadline(milliseconds: 1000), pause: LockPause(80, upTo: 500, yields: 3))
      guard try new.file.status().links > 0 else { continue }
      try new.file.write(bytes, at: 0)
      try new.file.synchronize()
      return new
    }
  }

  /// In the place of whatever file lies there. The name is on the disk after `PreferenceDirectory.synchronize()`.
  consuming func place(at path: String) throws(PreferenceError) -> OpenFile {
    let file = try replace(path)
    FileLock(on: file.number).release()
    return file
  }

  /// Removes the files of processes that ended before they could put them in their place.
  static func removeLeftovers(in directory: PreferenceDirectory) {
    for name in (try? OpenDirectory.foreign(directory.path).names().map(\.description)) ?? [] {
      guard name.hasPrefix(prefix), name.hasSuffix(suffix), let file = try? OpenFile.open(directory.file(name), O_RDWR),
        case .taken = FileLock(on: file.number).attempt()
      else { continue }
      // Under the lock: its maker finds it gone and makes another, if it came to lock it a moment later.
      unsafe unlink(file.path)
    }
  }
}
