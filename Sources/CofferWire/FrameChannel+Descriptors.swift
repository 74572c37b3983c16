internal import CLinux
package import CofferFiles
internal import Glibc

// A descriptor comes in one message with bytes that the receiver knows. The kernel never joins them to bytes that were sent before, so the
// process that has sent the descriptor has sent these bytes.
extension FrameChannel {
  /// The result of waiting for a message with a descriptor.
  package enum Handed: ~Copyable {
    case descriptor(OwnedDescriptor)
    /// Other bytes, no descriptor, or more than one.
    case somethingElse
    /// The other end has closed.
    case nothing
  }

  /// Receives one message, which has to be exactly these bytes and carry one descriptor.
  /// - Throws: `Failure`.
  package func receiveDescriptor(with expected: [UInt8]) throws -> Handed {
    var bytes = [UInt8](repeating: 0, count: expected.count)
    while true {
      var (process, sent) = (Int32(0), Int32(-1))
      let got = unsafe bytes.withUnsafeMutableBytes {
        unsafe coffer_receive(descriptor, $0.baseAddress, UInt($0.count), 1, &process, &sent)
      }
      let received = OwnedDescriptor(sent)
      if got < 0, errno == EINTR { continue }
      if got < 0 { throw errno == ECONNRESET ? Failure.closed : Failure.system(errno) }
      if got == 0 { return .nothing }
      guard sender == 0 || process == sender else { throw Failure.foreignSender }
      guard got == expected.count, bytes == expected, let received else { return .somethingElse }
      return .descriptor(received)
    }
  }

  /// Sends bytes in one message with a descriptor.
  /// - Throws: `Failure`.
  package func send(_ bytes: [UInt8], withDescriptor handed: Int32) throws {
    let deadline = Deadline(milliseconds: frameMilliseconds)
    while true {
      let sent = unsafe bytes.withUnsafeBytes {
        unsafe coffer_send_with_descriptor(descriptor, $0.baseAddress, UInt($0.count), handed)
      }
      if sent >= 0 {
        // The kernel takes a message of this size whole or not at all.
        guard sent == bytes.count else { throw Failure.closed }
        return
      }
      try waitToSend(after: errno, until: deadline)
    }
  }

  /// The bytes of a frame that hands on a descriptor for a request.
  private static func descriptorFrame(_ request: UInt64) -> [UInt8] {
    FrameHeader(.descriptor, request: request, bodyByteCount: 0).bytes
  }

  /// Hands a file on for the request of this number.
  /// - Throws: `Failure`.
  package func hand(_ file: Int32, request: UInt64) throws {
    try send(Self.descriptorFrame(request), withDescriptor: file)
  }

  /// Takes the file that the other end hands on for the request of this number.
  /// - Throws: `Failure`; `WireError`: `malformed` for anything else.
  package func takeFile(request: UInt64) throws -> OwnedDescriptor {
    switch try receiveDescriptor(with: Self.descriptorFrame(request)) {
    case .descriptor(let file): return file
    case .somethingElse: throw WireError(.malformed, "no descriptor")
    case .nothing: throw Failure.closed
    }
  }
}
