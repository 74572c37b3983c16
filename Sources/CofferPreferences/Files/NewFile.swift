internal import CofferFiles
import Glibc

/// A file that is written under another name and takes its place when it is complete.
///
/// Until then the process holds a lock on it, which the kernel gives back when the process dies: what nobody has locked was left behind.
struct NewFile: ~Copyable {
  let file: OpenFile
  private var isPlaced = false

  /// The content is on the disk at return.
  /// - Throws: `accessDenied`, `readOnly`, `full`, `descriptorsExhausted`, `io`.
  init(in directory: PreferenceDirectory, _ bytes: [UInt8]) throws(PreferenceError) {
    file = try Self.write(bytes, in: directory)
  }

  deinit {
    if !isPlaced { unsafe unlink(file.path) }
  }

  /// In the place of whatever file lies there. The name is on the disk after `PreferenceDirectory.synchronize()`.
  consuming func place(at path: String) throws(PreferenceError) -> OpenFile {
    guard unsafe rename(file.path, path) == 0 else { throw PreferenceError(errno: errno, path) }
    isPlaced = true
    FileLock(on: file.number).release()
    return file
  }

  private static let prefix = ".coffer-"
  private static let suffix = ".new"

  /// Removes the files of processes that ended before they could put them in their place.
  static func removeLeftovers(in directory: PreferenceDirectory) {
    guard let stream = unsafe opendir(directory.path) else { return }
    defer { unsafe closedir(stream) }
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasPrefix(prefix), name.hasSuffix(suffix), let file = try? OpenFile.open(directory.file(name), O_RDWR),
        case .taken = FileLock(on: file.number).attempt()
      else { continue }
      // Under the lock: its maker finds it gone and makes another, if it came to lock it a moment later.
      unsafe unlink(file.path)
    }
  }

  private static func write(_ bytes: [UInt8], in directory: PreferenceDirectory) throws(PreferenceError) -> OpenFile {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    let path = directory.file("\(prefix)\(String(repeating: "0", count: 16 - digits.utf8.count))\(digits)\(suffix)")
    guard let file = try OpenFile.open(path, O_RDWR | O_CREAT | O_EXCL) else { throw PreferenceError(.io, path) }
    // Another process may have looked for leftovers between the two calls. A file system without locks has no such processes.
    _ = FileLock(on: file.number).take(until: Deadline(milliseconds: 1000), pause: LockPause(80, upTo: 500, yields: 3))
    guard try file.status().st_nlink > 0 else { return try write(bytes, in: directory) }
    do throws(PreferenceError) {
      try file.write(bytes, at: 0)
      let done = retrying { fsync(file.number) }
      guard done.result == 0 else { throw PreferenceError(errno: done.errno, path) }
      return file
    } catch {
      unsafe unlink(path)
      throw error
    }
  }
}
