internal import CLinux
package import CofferFiles
internal import Glibc
package import SecretMemory

/// Frames over a connected socket, read straight into locked memory. Not thread-safe: one reader and one writer at a time.
package final class FrameChannel: Sendable {
  private let owned: OwnedDescriptor
  package var descriptor: Int32 { owned.number }
  /// Only bytes that this process has sent are taken; 0: those of any process.
  let sender: Int32
  /// How long a frame may take.
  let frameMilliseconds: Int32
  /// nil: no other channel is served beside this one.
  private let largeFrames: LargeFrames?

  /// Why there is no frame.
  package enum Failure: Error, Equatable {
    /// The other end is gone, in the middle of a frame, or takes nothing any more.
    case closed
    /// A frame took longer than it may.
    case late
    /// Another process than the one that connected has sent something: the descriptor was passed on.
    case foreignSender
    case system(Int32)
    /// There was no place for a large frame in time, or no locked memory. Its bytes are still there.
    case crowded(request: UInt64)
  }

  package init(
    _ descriptor: consuming OwnedDescriptor, sender: Int32 = 0, frameMilliseconds: Int32 = WireLimits.frameMilliseconds,
    largeFrames: LargeFrames? = nil
  ) {
    owned = descriptor
    self.largeFrames = largeFrames
    self.sender = sender
    self.frameMilliseconds = frameMilliseconds
    if sender != 0 { _ = coffer_pass_credentials(owned.number) }
  }

  /// The other end, and a thread that waits for it, meet the end of the stream.
  package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Whether something has arrived, or the other end has closed, within so many milliseconds.
  /// - Throws: `Failure`: `system`.
  package func isReadable(within milliseconds: Int32) throws -> Bool { try wait(Int16(POLLIN), milliseconds) }

  // MARK: In

  /// A frame that was received.
  package struct Frame: ~Copyable {
    package let header: FrameHeader
    /// nil if the body was dropped.
    package var message: Message?
  }

  /// The next frame. Returns nil if the other end has closed between two frames.
  /// - Parameter patience: How long the first byte may take, in milliseconds; -1: for ever. The whole frame has
  ///   `frameMilliseconds` from there.
  /// - Parameter takes: Asked about the header of a large frame, before its body gets a place. If it says no, the body is
  ///   dropped.
  /// - Throws: `WireError`; `Failure`; `VaultError` of locked memory; what `takes` throws.
  package func receive(
    patience: Int32 = -1, takes: (FrameHeader) throws -> Bool = { _ in true }
  ) throws -> Frame? {
    var head = [UInt8](repeating: 0, count: FrameHeader.byteCount)
    if patience >= 0 { guard try wait(Int16(POLLIN), patience) else { throw Failure.late } }
    // Without a deadline, poll(2) is not needed before the read.
    let first = unsafe try head.withUnsafeMutableBytes { try unsafe take($0, waits: true) } ?? 0
    guard first > 0 else { return nil }
    let deadline = Deadline(milliseconds: frameMilliseconds)
    unsafe try head.withUnsafeMutableBytes { try unsafe fill($0, from: first, deadline) }
    let header = unsafe try FrameHeader(parsing: head.span.bytes)
    if header.bodyByteCount > WireLimits.smallBodyByteCount, try !takes(header) {
      try drop(header.bodyByteCount, deadline)
      return Frame(header: header, message: nil)
    }
    let permit = try permit(header, deadline)
    defer { withExtendedLifetime(permit) {} }
    var body = try room(header)
    try body.withMutableBytes { span in
      try unsafe span.withUnsafeMutableBytes { try unsafe fill($0, from: 0, deadline) }
    }
    return Frame(header: header, message: try Message(parsing: body))
  }

  /// - Throws: `Failure.crowded` if other frames have all of the locked memory.
  private func room(_ header: FrameHeader) throws -> Secret {
    do {
      return try Secret(count: header.bodyByteCount)
    } catch {
      guard [.memoryNotLockable, .outOfMemory].contains(error.code) else { throw error }
      throw Failure.crowded(request: header.request)
    }
  }

  /// Takes no more than a small frame does.
  private func drop(_ count: Int, _ deadline: Deadline) throws {
    var room = try Secret(count: WireLimits.smallBodyByteCount)
    var left = count
    while left > 0 {
      let part = min(left, room.count)
      try room.withMutableBytes { span in
        try unsafe span.withUnsafeMutableBytes { bytes in
          try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: bytes[..<part]), from: 0, deadline)
        }
      }
      left -= part
    }
  }

  /// - Throws: `Failure.crowded`.
  private func permit(_ header: FrameHeader, _ deadline: Deadline) throws -> FramePermit? {
    guard let largeFrames, header.bodyByteCount > WireLimits.smallBodyByteCount else { return nil }
    guard let permit = largeFrames.permit(of: sender, milliseconds: deadline.left) else {
      throw Failure.crowded(request: header.request)
    }
    return permit
  }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer, from start: Int, _ deadline: Deadline) throws {
    var count = start
    while count < buffer.count {
      if let got = unsafe try take(UnsafeMutableRawBufferPointer(rebasing: buffer[count...]), waits: false) {
        guard got > 0 else { throw Failure.closed }
        count += got
        continue
      }
      guard !deadline.hasPassed, try wait(Int16(POLLIN), deadline.left) else { throw Failure.late }
    }
  }

  /// - Returns: The number of bytes; 0 at the end of the stream. nil if none are available yet.
  private func take(_ buffer: UnsafeMutableRawBufferPointer, waits: Bool) throws -> Int? {
    while true {
      var process: Int32 = 0
      let got = unsafe coffer_receive(descriptor, buffer.baseAddress, UInt(buffer.count), waits ? 1 : 0, &process, nil)
      if got > 0 {
        guard sender == 0 || process == sender else { throw Failure.foreignSender }
        return got
      }
      if got == 0 { return 0 }
      switch errno {
      case EINTR: continue
      case EAGAIN: return nil
      case ECONNRESET: throw Failure.closed
      default: throw Failure.system(errno)
      }
    }
  }

  // MARK: Out

  /// - Throws: `Failure`.
  package func send(_ frame: borrowing Secret) throws {
    let deadline = Deadline(milliseconds: frameMilliseconds)
    try frame.withBytes { bytes in
      try unsafe bytes.withUnsafeBytes { bytes in
        var count = 0
        while count < bytes.count {
          let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[count...])
          let sent = unsafe Glibc.send(
            descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
          if sent >= 0 {
            count += sent
            continue
          }
          try waitToSend(after: errno, until: deadline)
        }
      }
    }
  }

  /// Returns when a call that has sent nothing can be repeated.
  /// - Parameter number: The error of the call.
  func waitToSend(after number: Int32, until deadline: Deadline) throws {
    switch number {
    case EINTR: break
    case EAGAIN:
      guard !deadline.hasPassed, try wait(Int16(POLLOUT), deadline.left) else { throw Failure.late }
    case EPIPE, ECONNRESET: throw Failure.closed
    default: throw Failure.system(number)
    }
  }

  /// Whether it happened in time.
  func wait(_ event: Int16, _ milliseconds: Int32) throws -> Bool {
    var entry = pollfd(fd: descriptor, events: event, revents: 0)
    let deadline = Deadline(milliseconds: milliseconds)
    while true {
      let ready = unsafe poll(&entry, 1, milliseconds < 0 ? -1 : deadline.left)
      if ready > 0 { return true }
      if ready == 0 { return false }
      guard errno == EINTR else { throw Failure.system(errno) }
    }
  }
}
