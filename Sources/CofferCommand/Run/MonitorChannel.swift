import CofferFiles
import Glibc
import ProgramSecrets

/// The socket between `coffer run` and the process that leads the session of the program.
struct MonitorChannel: ~Copyable {
  /// From `coffer run` to the other process.
  enum Command: Equatable {
    /// To the process group of the program.
    case signal(Int32)
    /// The group goes on, in the foreground of its terminal or behind.
    case resume(inForeground: Bool)
  }

  enum Report: Equatable {
    /// The errno of the start, or 0; and the process.
    case started(Int32, pid_t)
    /// As waitpid(2) has it.
    case status(Int32)
  }

  private let owned: OwnedDescriptor
  var descriptor: Int32 { owned.number }

  init(_ owned: consuming OwnedDescriptor) { self.owned = owned }

  // MARK: Commands and reports

  private static let behind: Int32 = 0
  private static let ahead: Int32 = -1

  func send(_ command: Command) {
    switch command {
    case .signal(let number): send([number])
    case .resume(let inForeground): send([inForeground ? Self.ahead : Self.behind])
    }
  }

  func send(_ report: Report) {
    switch report {
    case .started(let number, let process): send([0, number, process])
    case .status(let status): send([1, status, 0])
    }
  }

  private func send(_ numbers: [Int32]) {
    unsafe numbers.withUnsafeBytes { bytes in _ = Self.write(unsafe RawSpan(_unsafeBytes: bytes), to: descriptor) }
  }

  /// Waits. Returns nil at the end.
  func nextCommand() -> Command? {
    guard let number = receive(1)?[0] else { return nil }
    return number > 0 ? .signal(number) : .resume(inForeground: number == Self.ahead)
  }

  /// Waits. Returns nil at the end.
  func nextReport() -> Report? {
    guard let numbers = receive(3) else { return nil }
    return numbers[0] == 0 ? .started(numbers[1], numbers[2]) : .status(numbers[1])
  }

  private func receive(_ count: Int) -> [Int32]? {
    var numbers = [Int32](repeating: 0, count: count)
    return unsafe numbers.withUnsafeMutableBytes { unsafe read(into: $0) } ? numbers : nil
  }

  // MARK: Bytes

  /// - Returns: false if the other end is gone.
  func send(_ variables: EnvironmentBlock) -> Bool {
    var isSent = true
    variables.write { bytes in isSent = isSent && Self.write(bytes, to: descriptor) }
    return isSent
  }

  struct Ended: Error {}

  func receiveVariables() throws -> EnvironmentBlock {
    try unsafe EnvironmentBlock(reading: { room in
      guard unsafe read(into: room) else { throw Ended() }
    })
  }

  private func read(into room: UnsafeMutableRawBufferPointer) -> Bool {
    var filled = 0
    while filled < room.count {
      let count = retrying { unsafe Glibc.read(descriptor, room.baseAddress! + filled, room.count - filled) }.result
      guard count > 0 else { return false }
      filled += count
    }
    return true
  }

  private static func write(_ bytes: RawSpan, to descriptor: Int32) -> Bool {
    unsafe bytes.withUnsafeBytes { buffer in
      var written = 0
      while written < buffer.count {
        let count = retrying { unsafe Glibc.write(descriptor, buffer.baseAddress! + written, buffer.count - written) }.result
        guard count > 0 else { return false }
        written += count
      }
      return true
    }
  }
}
