import CLinux
import CofferConsole
import Glibc

/// A file under a name of its own, complete and on the disk, that takes its place in one step.
struct NewFile: ~Copyable {
  private let path: String
  private let directory: String

  /// - Parameter status: of the file whose mode and owner it takes over; nil for 0600.
  /// - Throws: `DefaultsFailure`. Nothing is left behind.
  init(beside other: String, _ bytes: [UInt8], like status: stat?) throws {
    directory = other.utf8.lastIndex(of: UInt8(ascii: "/")).map { $0 == other.startIndex ? "/" : String(other[..<$0]) } ?? "."
    path = "\(directory)/.coffer-\(String(UInt64.random(in: 0 ... .max), radix: 16)).new"
    let number = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard number >= 0 else { throw DefaultsFailure.failed("\(other): \(SystemError.last.text)") }
    let file = Descriptor(number: number, name: other)
    defer { file.close() }
    if let status {
      // Only root may give a file away; nobody else needs to.
      _ = fchown(number, status.st_uid, status.st_gid)
      _ = fchmod(number, status.st_mode & 0o777)
    }
    do {
      try unsafe file.write(bytes.span.bytes)
      guard fsync(number) == 0 else { throw Failure(.inputOutput, "\(other): \(SystemError.last.text)") }
    } catch {
      unsafe unlink(path)
      throw DefaultsFailure.failed((error as? Failure)?.message ?? "\(error)", hint: "nothing has been changed")
    }
  }

  deinit { unsafe unlink(path) }

  /// In the place of what lies there.
  consuming func replace(_ other: String) throws {
    guard unsafe rename(path, other) == 0 else { throw DefaultsFailure.failed("\(other): \(SystemError.last.text)") }
    synchronizeDirectory()
  }

  /// False where something lies there already.
  consuming func appear(_ other: String) throws -> Bool {
    guard unsafe link(path, other) == 0 else {
      guard errno == EEXIST else { throw DefaultsFailure.failed("\(other): \(SystemError.last.text)") }
      return false
    }
    synchronizeDirectory()
    return true
  }

  private func synchronizeDirectory() {
    let number = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { return }
    _ = fsync(number)
    close(number)
  }
}
