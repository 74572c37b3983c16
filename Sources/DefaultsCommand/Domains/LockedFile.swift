import CLinux
import CofferConsole
import CofferFiles
internal import CofferPropertyLists
import Glibc

/// A whole file that is read, and replaced by another one under its name.
enum LockedFile {
  /// How long another process may hold the lock, in milliseconds.
  private static let patience = 5000

  /// Returns nil if there is no such file. Reading through a symbolic link is harmless.
  /// - Throws: `DefaultsFailure`.
  static func content(of path: String) throws -> [UInt8]? {
    guard let file = try open(path, 0) else { return nil }
    defer { file.close() }
    return try bytes(of: file)
  }

  /// Calls `body` with the content of the file, nil if there is none, and replaces the content by the result, on the disk and
  /// with the mode of the old one, 0600 for a new one. Nil leaves everything as it is.
  ///
  /// A symbolic link is refused: it would be replaced, or lead somewhere else.
  static func replace(_ path: String, _ body: ([UInt8]?) throws -> [UInt8]?) throws {
    while true {
      guard let file = try open(path, O_NOFOLLOW) else {
        guard let new = try body(nil) else { return }
        if try create(path, new) { return }
        continue  // Another process was faster.
      }
      defer { file.close() }
      try lock(file)
      // The previous holder of the lock may have replaced the file.
      let status = try Files.status(of: file.number, path)
      guard try Files.status(at: path)?.isSameFile(as: status) == true else { continue }
      guard let new = try body(try bytes(of: file)) else { return }
      let copy = try NewFile.written(beside: path, new, like: status)
      _ = try copy.replace(path)
      try? Files.synchronizeDirectory(Path.parent(of: path))
      return
    }
  }

  private static func create(_ path: String, _ bytes: [UInt8]) throws -> Bool {
    let new = try NewFile.written(beside: path, bytes, like: nil)
    guard try new.appear(at: path) else { return false }
    try? Files.synchronizeDirectory(Path.parent(of: path))
    return true
  }

  private static func open(_ path: String, _ flags: Int32) throws -> Descriptor? {
    // Without waiting for the other end of a pipe.
    let number = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags)
    guard number >= 0 else {
      switch errno {
      case ENOENT: return nil
      case ELOOP: throw DefaultsFailure.failed("\(path): is a symbolic link", hint: "name the file itself: \(target(of: path))")
      default: throw DefaultsFailure.failed("\(path): \(SystemError.last.text)")
      }
    }
    let file = Descriptor(number: number, name: path)
    var status = stat()
    guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      file.close()
      throw DefaultsFailure.failed("\(path): is not a regular file")
    }
    return file
  }

  private static func target(of path: String) -> String {
    guard let resolved = unsafe realpath(path, nil) else { return "it leads nowhere" }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  private static func bytes(of file: Descriptor) throws -> [UInt8] {
    do {
      return try file.contents(limit: PropertyList.maximumByteCount)
    } catch let error as Failure {
      throw DefaultsFailure.failed(error.message)
    }
  }

  private static func lock(_ file: Descriptor) throws {
    let pause = LockPause(1000, upTo: 1000)
    switch FileLock(on: file.number).take(until: Deadline(milliseconds: patience), pause: pause) {
    case .taken: return
    case .busy: throw DefaultsFailure.failed("\(file.name): another process holds it", hint: "try again")
    case .failed(let number):
      throw DefaultsFailure.failed("\(file.name): cannot be locked: \(ErrorNumber.text(of: number))")
    }
  }
}
