package import CofferFiles
import Glibc

/// The file by whose lock an agent says that it has a vault, and in which it says where it listens.
///
/// Where sockets lie depends on the session: a program that was started by cron, or after `su -`, looks elsewhere than the one
/// that has started the agent. The lock lies beside the user's data, where all of them find it.
package final class AgentLock: Sendable {
  /// Its one owner, which closes it once.
  private let file: OpenFile

  /// - Parameter path: See `Places.agentLock`.
  /// - Throws: `busy` where an agent has it; what is wrong with the file.
  package init(at path: String) throws(StorageError) {
    try Files.makeDurableDirectory(Path.parent(of: path))
    file = try OpenFile(path, O_RDWR | O_CREAT)
    switch FileLock(on: file.number, byte: 0).attempt() {
    case .taken: break
    case .busy: throw StorageError(.busy, path)
    case .failed(let number): throw StorageError(errno: number, path)
    }
    // Drop the socket of an earlier holder.
    ftruncate(file.number, 0)
  }

  /// - Parameter socket: The absolute path of the socket on which connections are taken now.
  package func publish(socket: String) {
    let bytes = Array(socket.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(file.number, $0.baseAddress, $0.count, 0) }
  }

  /// Whether no agent has the lock, now or before the deadline.
  package static func isFree(_ path: String, until deadline: Deadline) throws(StorageError) -> Bool {
    var pause = LockPause(1000, upTo: 20_000)
    while let file = try SmallFile.open(path), FileLock.isHeld(0..<1, on: file.number) == true {
      guard !deadline.hasPassed else { return false }
      pause.wait()
    }
    return true
  }

  /// The socket of the agent that has the lock now. Returns nil if no agent has it, or it has not published a socket.
  package static func socket(ofHolder path: String) -> String? {
    guard let file = try? SmallFile.open(path), FileLock.isHeld(0..<1, on: file.number) == true else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
      return try? file.read(into: &span)
    }
    guard let count, bytes[0] == UInt8(ascii: "/") else { return nil }
    return String(validating: bytes[..<count], as: UTF8.self)
  }
}
