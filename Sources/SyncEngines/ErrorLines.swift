import CLinux
import CofferFiles
import Glibc

/// The standard error of ssh: its own messages, and what the other machine writes, which must not reach a terminal as it is.
///
/// A thread reads all of it, so that ssh never waits.
final class ErrorLines {
  /// In bytes, of one connection: a machine that writes without an end fills no journal. The thread drops the rest.
  private static let limit = 1 << 16
  private static let lineByteCount = 4096

  /// The end for the program that is started.
  let other: Int32
  private let number: Int32
  private var thread: JoinedThread?

  /// - Parameter tell: Gets each line without its end, on the thread.
  /// - Returns: nil if the system has no thread, or no descriptor.
  init?(tell: @escaping @Sendable (String) -> Void) {
    var ends: [Int32] = [0, 0]
    guard unsafe coffer_local_pair(&ends) == 0 else { return nil }
    let number = ends[0]
    (self.number, other) = (number, ends[1])
    thread = JoinedThread("ssh-errors") { Self.read(number, tell) }
    guard thread != nil else {
      close(number)
      close(other)
      return nil
    }
  }

  func closeOther() { close(other) }

  /// Returns when what was written so far is told, even if another program still has the other end: ssh may leave a connection for others.
  deinit {
    guard thread != nil else { return }
    shutdown(number, Int32(SHUT_RD))
    thread = nil
    close(number)
  }

  private static func read(_ number: Int32, _ tell: (String) -> Void) {
    var line: [UInt8] = []
    var toldCount = 0
    func finish() {
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if toldCount < limit { tell(String(decoding: line, as: UTF8.self)) }
      toldCount += line.count + 1
      line = []
    }
    var piece = [UInt8](repeating: 0, count: lineByteCount)
    while case let read = retrying({ unsafe Glibc.read(number, &piece, piece.count) }), read.result > 0 {
      for byte in piece.prefix(Int(read.result)) {
        if byte == UInt8(ascii: "\n") { finish() } else { line.append(byte) }
        if line.count == lineByteCount { finish() }
      }
    }
    if !line.isEmpty { finish() }
  }
}
