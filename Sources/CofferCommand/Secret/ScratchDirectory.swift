import CLinux
import CofferConsole
import CofferFiles
import Glibc
import SecretMemory

/// A directory in memory, for this user alone, with files for an editor or another program. All that lies in it is overwritten and
/// removed at the end.
///
/// On a disk the text would stay in blocks that no file refers to. Files that editors leave beside it, such as copies and
/// swap files, are in this directory too.
struct ScratchDirectory: ~Copyable {
  static let fileName = "secret"

  let path: String
  private let descriptor: Int32

  private static let begin = "coffer-"
  private static var parents: [String?] { [Environment["XDG_RUNTIME_DIR"], "/dev/shm"] }

  /// The directories of this user that no process has open: those of commands that were killed by SIGKILL.
  static func leftovers() -> [String] {
    var found: [String] = []
    for case let parent? in parents where parent.hasPrefix("/") {
      for name in (try? OpenDirectory.foreign(parent).names())?.map(\.description) ?? [] {
        let path = Path.join(parent, name)
        if name.hasPrefix(begin), name.utf8.count == begin.utf8.count + 6, !found.contains(path), isLeft(path) {
          found.append(path)
        }
      }
    }
    return found.sorted()
  }

  private static func isLeft(_ path: String) -> Bool {
    let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else { return false }
    defer { close(number) }
    var status = stat()
    return unsafe fstat(number, &status) == 0 && status.st_uid == geteuid() && flock(number, LOCK_EX | LOCK_NB) == 0
  }

  /// - Parameters:
  ///   - what: The operation, for messages.
  ///   - hint: Another way, which needs no file.
  /// - Throws: `other` if neither directory is in memory.
  init(for what: String, hint: String) throws {
    for parent in Self.parents {
      guard let parent, let made = try Self.make(in: parent) else { continue }
      (path, descriptor) = made
      return
    }
    throw Failure(
      .other, "\(what): neither $XDG_RUNTIME_DIR nor /dev/shm is in memory, and a secret must not touch a disk", hint: hint)
  }

  /// Returns nil if the directory cannot be made in `parent`.
  private static func make(in parent: String) throws -> (String, Int32)? {
    guard parent.hasPrefix("/") else { return nil }
    let outer = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard outer >= 0 else { return nil }
    defer { close(outer) }
    guard coffer_is_in_memory(outer) == 1 else { return nil }
    var template = Array("\(parent)/\(begin)XXXXXX".utf8CString)
    guard unsafe template.withUnsafeMutableBufferPointer({ unsafe mkdtemp($0.baseAddress!) != nil }) else { return nil }
    let path = unsafe template.withUnsafeBufferPointer { unsafe String(cString: $0.baseAddress!) }
    let inner = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard inner >= 0, coffer_is_in_memory(inner) == 1 else { throw SystemError.last.failure(path) }
    // Until this process has ended: see `leftovers`.
    flock(inner, LOCK_EX | LOCK_NB)
    return (path, inner)
  }

  func filePath(_ name: String = fileName) -> String { "\(path)/\(name)" }

  func write(_ secret: borrowing Secret, named name: String = fileName) throws {
    let number = unsafe openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard number >= 0 else { throw SystemError.last.failure(filePath(name)) }
    defer { close(number) }
    try secret.withBytes { try Descriptor(number: number, name: filePath(name)).write($0) }
  }

  func read() throws -> Secret {
    let number = unsafe openat(descriptor, Self.fileName, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else { throw SystemError.last.failure(filePath()) }
    defer { close(number) }
    return try Secret.reading(Descriptor(number: number, name: filePath()))
  }

  deinit {
    if let stream = unsafe fdopendir(descriptor) {
      while let entry = unsafe readdir(stream) {
        unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
          unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe Self.erase($0, in: descriptor) }
        }
      }
      unsafe closedir(stream)
    }
    _ = unsafe rmdir(path)
  }

  private static func erase(_ name: UnsafePointer<CChar>, in directory: Int32) {
    let number = unsafe openat(directory, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if number >= 0 {
      var status = stat()
      if unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
        let zeros = [UInt8](repeating: 0, count: 4096)
        var written: off_t = 0
        while written < status.st_size {
          let count = unsafe pwrite(number, zeros, zeros.count, written)
          guard count > 0 else { break }
          written += off_t(count)
        }
      }
      close(number)
    }
    _ = unsafe unlinkat(directory, name, 0)
  }
}
