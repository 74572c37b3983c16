import CofferFiles
import CofferSync
import Glibc

/// Frames over two pipes: a u32 length, then so many bytes.
struct FramePipes {
  /// In milliseconds, for one piece: ssh ends a connection whose other end is silent for 45 s.
  private static let patience = 60_000
  /// A frame that is slower, after the time for one piece, ends the connection: one that drips would keep this device from its files.
  private static let bytesPerMillisecond = 2
  /// A pipe that takes any bytes takes as many at once.
  private static let pieceByteCount = 4096

  let input: Int32
  let output: Int32
  private let patience: Int

  init(input: Int32, output: Int32, patience: Int = patience) {
    (self.input, self.output, self.patience) = (input, output, patience)
  }

  /// - Throws: `io`.
  func send(_ frame: [UInt8]) throws(FileError) {
    let bytes = UInt32(frame.count).littleEndianBytes + frame
    let start = Deadline.now()
    var written = 0
    while written < bytes.count {
      try wait(for: POLLOUT, of: output, since: start, after: written)
      let piece = bytes[written..<min(written + Self.pieceByteCount, bytes.count)]
      let count = unsafe piece.withUnsafeBytes { unsafe write(output, $0.baseAddress, $0.count) }
      if count < 0 {
        guard errno == EINTR else { throw FileError(errno: errno, "the pipe") }
      } else {
        written += count
      }
    }
  }

  /// - Parameter isAnswer: Whether the other end owes the frame, and is not waited for without an end.
  /// - Returns: nil at the end of the input.
  /// - Throws: `tooLarge`, `io`, also for an end within a frame.
  func receive(isAnswer: Bool) throws(FileError) -> [UInt8]? {
    if !isAnswer {
      var waiting = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
      while unsafe poll(&waiting, 1, -1) < 0 && errno == EINTR {}
    }
    let start = Deadline.now()
    guard let length = try read(4, since: start, isEndAllowed: true) else { return nil }
    let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard count <= EngineCall.maximumByteCount else { throw FileError(.tooLarge, "a frame of \(count) bytes") }
    return try read(count, since: start, isEndAllowed: false)
  }

  private func read(_ wanted: Int, since start: UInt64, isEndAllowed: Bool) throws(FileError) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < wanted {
      try wait(for: POLLIN, of: input, since: start, after: bytes.count)
      // In pieces: a length that lies takes no memory.
      var piece = [UInt8](repeating: 0, count: min(wanted - bytes.count, 1 << 16))
      let count = unsafe Glibc.read(input, &piece, piece.count)
      if count < 0 {
        guard errno == EINTR else { throw FileError(errno: errno, "the pipe") }
      } else if count == 0 {
        guard isEndAllowed, bytes.isEmpty else { throw FileError(.io, "the other end has closed the pipe") }
        return nil
      } else {
        bytes += piece.prefix(count)
      }
    }
    return bytes
  }

  /// - Parameters:
  ///   - start: When the frame began.
  ///   - count: How much of it has gone through.
  private func wait(for event: Int32, of descriptor: Int32, since start: UInt64, after count: Int) throws(FileError) {
    var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    let piece = Deadline(milliseconds: patience)
    var result: Int32
    repeat {
      let passed = Int((Deadline.now() - start) / 1_000_000)
      let left = min(Int(piece.left), patience + count / Self.bytesPerMillisecond - passed)
      guard left > 0 else { throw FileError(.io, count == 0 ? "the other end does not answer" : "the other end is too slow") }
      result = unsafe poll(&waiting, 1, Int32(left))
    } while result == 0 || result < 0 && errno == EINTR
  }
}
