import CofferFiles
import CofferSync
import Glibc

/// Frames over two pipes: a u32 length, then so many bytes.
struct FramePipes {
  /// In milliseconds, for one piece: ssh ends a connection whose other end is silent for 45 s.
  private static let patience: Int32 = 60_000

  let input: Int32
  let output: Int32

  /// - Throws: `io`.
  func send(_ frame: [UInt8]) throws(FileError) {
    let bytes = UInt32(frame.count).littleEndianBytes + frame
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { unsafe write(output, $0.baseAddress?.advanced(by: written), $0.count - written) }
      if count < 0 {
        guard errno == EINTR else { throw FileError(errno: errno, "the pipe") }
      } else {
        written += count
      }
    }
  }

  /// - Parameter isAnswer: Whether the other end owes the frame, and is waited for no longer than for a piece.
  /// - Returns: nil at the end of the input.
  /// - Throws: `tooLarge`, `io`, also for an end within a frame.
  func receive(isAnswer: Bool) throws(FileError) -> [UInt8]? {
    if isAnswer { try wait() }
    guard let length = try read(4, isEndAllowed: true) else { return nil }
    let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard count <= EngineCall.maximumByteCount else { throw FileError(.tooLarge, "a frame of \(count) bytes") }
    return try read(count, isEndAllowed: false)
  }

  private func read(_ wanted: Int, isEndAllowed: Bool) throws(FileError) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < wanted {
      if !isEndAllowed || !bytes.isEmpty { try wait() }
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

  private func wait() throws(FileError) {
    var waiting = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
    let count = unsafe poll(&waiting, 1, Self.patience)
    guard count != 0 else { throw FileError(.io, "the other end does not answer") }
  }
}
