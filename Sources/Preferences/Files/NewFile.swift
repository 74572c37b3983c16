import Glibc
internal import SystemCalls

/// A file that is written under another name and takes its place when it is complete.
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
    return file
  }

  private static let prefix = ".coffer-"
  private static let suffix = ".new"

  static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) && name.hasSuffix(suffix) }

  private static func write(_ bytes: [UInt8], in directory: PreferenceDirectory) throws(PreferenceError) -> OpenFile {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    let path = directory.file("\(prefix)\(String(repeating: "0", count: 16 - digits.utf8.count))\(digits)\(suffix)")
    guard let file = try OpenFile.open(path, O_RDWR | O_CREAT | O_EXCL) else { throw PreferenceError(.io, path) }
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
