import CofferFiles
import Glibc
import SecretMemory

/// Keys that are typed at the terminal, on their way to that of the program. They may be a passphrase.
@safe final class TypedKeys {
  private var buffer: Secret
  private let bytes: UnsafeMutablePointer<UInt8>
  private var pending = 0..<0
  private var isOver = false

  init() throws {
    buffer = try Secret(count: 1024)
    unsafe bytes = buffer.withMutablePointer { unsafe $0 }
  }

  /// For poll(2).
  func entries(from terminal: Int32, to master: Int32, isReading: Bool) -> [pollfd] {
    [
      pollfd(fd: isReading && pending.isEmpty && !isOver ? terminal : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: pending.isEmpty ? -1 : master, events: Int16(POLLOUT), revents: 0),
    ]
  }

  /// - Parameter entries: As poll(2) has left them.
  /// - Returns: The control characters that the program's terminal has got.
  func move(_ entries: ArraySlice<pollfd>) -> [UInt8] {
    guard let source = entries.first, let target = entries.last else { return [] }
    var controls: [UInt8] = []
    if source.revents != 0 {
      let taken = retrying { unsafe read(source.fd, bytes, buffer.count) }
      pending = 0..<max(0, taken.result)
      // The terminal is gone. In the background it is not: another job has come between.
      isOver = taken.result == 0
    }
    if target.revents != 0 {
      let written = retrying { unsafe write(target.fd, bytes + pending.lowerBound, pending.count) }
      for offset in pending.prefix(max(0, written.result)) where unsafe bytes[offset] < 0x20 {
        unsafe controls.append(bytes[offset])
      }
      pending = written.errno == EAGAIN || written.result >= 0 ? pending.dropFirst(max(0, written.result)) : 0..<0
    }
    return controls
  }
}
