import CLinux
import CofferFiles
import Glibc

/// The socket that an agent has made, in a directory of its user's alone, for as long as it lies there.
///
/// If it was removed or replaced, as by a session that ends, no program finds the agent any more: neither to use nor
/// to lock it.
final class OwnSocket: Sendable {
  private let listener: OwnedDescriptor
  private let events = FileEvents()
  var descriptor: Int32 { listener.number }
  /// Readable when something in the directory has gone. -1 where the system has no watch left: then `isThere` is for who asks
  /// now and then.
  var watch: Int32 { events.descriptor }
  private let path: String
  private let device: UInt64
  private let inode: UInt64

  /// The caller holds the lock that says that there is one agent: what lies at the path was left by one that has ended.
  /// - Throws: `Failure`: `openDirectory`, `system`.
  init(at path: String) throws(AgentServer.Failure) {
    self.path = path
    listener = try Self.bound(path)
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw .system(path, errno) }
    (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    let changes = UInt32(IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
    _ = events.watch(Self.directory(of: path) ?? "", for: changes)
  }

  private static func directory(of path: String) -> String? {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) }
  }

  private static func bound(_ path: String) throws(AgentServer.Failure) -> OwnedDescriptor {
    guard let directory = directory(of: path) else { throw .system(path, EINVAL) }
    _ = unsafe mkdir(directory, 0o700)
    var status = stat()
    guard unsafe lstat(directory, &status) == 0 else { throw .system(directory, errno) }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw .openDirectory
    }
    _ = unsafe unlink(path)
    guard let descriptor = OwnedDescriptor(coffer_local_socket()) else { throw .system(path, errno) }
    // Before anybody can connect: connections have it from here.
    guard coffer_pass_credentials(descriptor.number) == 0, unsafe coffer_local_name(descriptor.number, path, 1) == 0,
      unsafe chmod(path, 0o600) == 0, listen(descriptor.number, 128) == 0
    else { throw .system(path, errno) }
    return descriptor
  }

  /// Whether it still is what lies at its path.
  var isThere: Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return false }
    return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
  }

  /// Reads and drops the events of the watch.
  func clearWatch() { events.clear() }

  /// Refuses new connections, and closes those that wait in the queue, which would otherwise wait for ever.
  func end() {
    if isThere { _ = unsafe unlink(path) }
    shutdown(descriptor, Int32(SHUT_RDWR))
    while true {
      guard OwnedDescriptor(coffer_accept(descriptor)) != nil else { return }
    }
  }
}
