internal import CLinux
package import CofferFiles
internal import Glibc
internal import SSHAgentProtocol
package import SecretMemory

/// A connection of the SSH agent protocol, on either side. Messages are read straight into locked memory, and written from there, since
/// some are private keys or passphrases. For one thread at a time; the socket blocks.
package final class AgentConnection: Sendable {
  private let owned: OwnedDescriptor
  package var descriptor: Int32 { owned.number }

  package enum Failure: Error, Equatable {
    /// The other end is gone.
    case closed
    /// A message of no bytes, or of more than `AgentLimits.messageByteCount`.
    case length(UInt32)
    case system(Int32)
  }

  package init(_ descriptor: consuming OwnedDescriptor) { owned = descriptor }

  /// Connects to an agent.
  /// - Throws: `Failure`: `system`.
  package convenience init(to path: String) throws(Failure) {
    guard let descriptor = OwnedDescriptor(coffer_local_socket()) else { throw .system(errno) }
    guard unsafe coffer_local_name(descriptor.number, path, 0) == 0 else { throw .system(errno) }
    self.init(descriptor)
  }

  /// Ends the connection, and the waiting of the thread that uses it.
  package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  // MARK: Messages

  /// The next message, without its length. Returns nil if the other end has closed between two messages.
  /// - Throws: `Failure`; `VaultError` of locked memory.
  package func receive() throws -> Secret? {
    var head = [UInt8](repeating: 0, count: 4)
    guard unsafe try head.withUnsafeMutableBytes({ unsafe try fill($0) }) else { return nil }
    var reader = WireReader(head)
    let count = reader.number() ?? 0
    guard (1...UInt32(AgentLimits.messageByteCount)).contains(count) else { throw Failure.length(count) }
    var message = try Secret(count: Int(count))
    let isWhole = try message.withMutableBytes { bytes in
      try unsafe bytes.withUnsafeMutableBytes { unsafe try fill($0) }
    }
    guard isWhole else { throw Failure.closed }
    return message
  }

  /// - Parameter message: Without its length.
  /// - Throws: `Failure`.
  package func send(_ message: borrowing Secret) throws(Failure) {
    try message.withBytes { (bytes) throws(Failure) in
      try write(unsafe WireField.number(UInt32(clamping: bytes.byteCount)).span.bytes, hasMore: true)
      try write(bytes)
    }
  }

  /// Sends a message without secrets.
  /// - Throws: `Failure`.
  package func send(_ message: [UInt8]) throws(Failure) { try unsafe write(WireField.string(message).span.bytes) }

  /// Sends a message and returns the answer.
  /// - Throws: `Failure`; `VaultError` of locked memory.
  package func answer(to message: borrowing Secret) throws -> [UInt8] {
    try send(message)
    return try receiveAnswer()
  }

  package func answer(to message: [UInt8]) throws -> [UInt8] {
    try send(message)
    return try receiveAnswer()
  }

  /// No answer of an agent is secret.
  private func receiveAnswer() throws -> [UInt8] {
    guard let answer = try receive() else { throw Failure.closed }
    return answer.copyIntoUnprotectedBytes()
  }

  // MARK: Bytes

  /// Returns false if the other end has closed before the first byte.
  private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Bool {
    var count = 0
    while count < buffer.count {
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      let got = unsafe recv(descriptor, rest.baseAddress, rest.count, 0)
      if got > 0 {
        count += got
      } else if got == 0 {
        guard count == 0 else { throw .closed }
        return false
      } else if errno == ECONNRESET {
        throw .closed
      } else if errno != EINTR {
        throw .system(errno)
      }
    }
    return true
  }

  private func write(_ bytes: RawSpan, hasMore: Bool = false) throws(Failure) {
    var count = 0
    while count < bytes.byteCount {
      let flags = Int32(MSG_NOSIGNAL) | (hasMore ? Int32(MSG_MORE) : 0)
      let sent = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.send(descriptor, bytes.baseAddress! + count, bytes.count - count, flags)
      }
      if sent >= 0 {
        count += sent
      } else if errno == EPIPE || errno == ECONNRESET {
        throw .closed
      } else if errno != EINTR {
        throw .system(errno)
      }
    }
  }
}
