import CLinux
import CofferFiles
import Glibc

/// The socket that clients connect to.
final class ListeningSocket: Sendable {
  enum Failure: Error, Equatable {
    /// An agent answers there.
    case running(String)
    /// Something else than a socket lies there.
    case occupied(String)
    /// Other users may use the directory, or it is a link.
    case openDirectory(String)
    case system(String, Int32)
    /// Handed over by a service manager, and not a local socket that listens.
    case unfit(String)

    var words: String {
      switch self {
      case .running(let path): "\(path): an agent answers there already"
      case .occupied(let path): "\(path): is not a socket"
      case .openDirectory(let path): "\(path): is not a directory of this user alone"
      case .system(let path, let number): "\(path): \(ErrorNumber.text(of: number))"
      case .unfit(let why): "the socket of the service manager: \(why)"
      }
    }
  }

  private let owned: OwnedDescriptor
  var descriptor: Int32 { owned.number }
  let path: String
  /// The file of a socket that was made here; nil if it was handed over.
  private let made: FileStatus?

  /// - Parameters:
  ///   - path: The path of the socket.
  ///   - isOwnPlace: Whether its directory is made, and must be this user's alone.
  /// - Throws: `Failure`.
  init(at path: String, isOwnPlace: Bool) throws(Failure) {
    // The agent serves from another directory.
    guard path.hasPrefix("/") else { throw .system(path, EINVAL) }
    self.path = path
    let lock = isOwnPlace ? try Self.lock(Path.parent(of: path)) : nil
    owned = try Self.bound(path)
    made = try? Files<FileError>.status(at: path)
    withExtendedLifetime(lock) {}
  }

  /// The one that a service manager listens on: sd_listen_fds(3).
  /// - Returns: nil if there is none.
  /// - Throws: `Failure`: `unfit`.
  init?(environment: (String) -> String?) throws(Failure) {
    guard let process = environment("LISTEN_PID"), process == "\(getpid())" else { return nil }
    guard environment("LISTEN_FDS") == "1" else { throw .unfit("LISTEN_FDS is not 1") }
    let first: Int32 = 3
    var name = [CChar](repeating: 0, count: 128)
    guard fcntl(first, F_SETFD, FD_CLOEXEC) == 0, Self.listens(first),
      unsafe coffer_local_own_name(first, &name, name.count) == 0, let descriptor = OwnedDescriptor(first)
    else { throw .unfit("it is not a local socket that listens") }
    owned = descriptor
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    made = nil
  }

  private static func listens(_ descriptor: Int32) -> Bool {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value == 1
  }

  /// One process at a time looks whether a socket was left behind, and replaces it.
  private static func lock(_ directory: String) throws(Failure) -> DirectoryLock {
    do {
      try Files<FileError>.makeDirectory(directory)
      guard let status = try Files<FileError>.status(at: directory) else { throw Failure.system(directory, ENOENT) }
      guard status.kind == .directory, status.owner == geteuid(), status.mode & 0o077 == 0 else {
        throw Failure.openDirectory(directory)
      }
      return try DirectoryLock(on: .foreign(directory))
    } catch {
      throw error as? Failure ?? .system(directory, errno)
    }
  }

  private static func bound(_ path: String) throws(Failure) -> OwnedDescriptor {
    guard let descriptor = OwnedDescriptor(coffer_local_socket()) else { throw .system(path, errno) }
    var status = stat()
    if unsafe lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFSOCK else { throw .occupied(path) }
      guard let probe = OwnedDescriptor(coffer_local_socket()) else { throw .system(path, errno) }
      guard unsafe coffer_local_name(probe.number, path, 0) != 0, errno == ECONNREFUSED else { throw .running(path) }
      _ = unsafe unlink(path)
    }
    // From the first moment on for this user alone.
    let mask = umask(0o177)
    defer { umask(mask) }
    guard unsafe coffer_local_name(descriptor.number, path, 1) == 0, listen(descriptor.number, 128) == 0 else {
      throw .system(path, errno)
    }
    return descriptor
  }

  /// Removes it, unless something else lies in its place by now.
  func end() {
    guard let made, let present = try? Files<FileError>.status(at: path), present.isSameFile(as: made) else { return }
    _ = unsafe unlink(path)
  }
}
