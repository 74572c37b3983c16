internal import CLinux
internal import CofferFiles
internal import Glibc
internal import SecretMemory

/// A running pinentry: lines to it and from it, each with a deadline. The process is ended with this object.
///
/// Its output is read into locked memory only, because any line may contain a passphrase. One socket is both its input and its
/// output: writing to a socket of an ended program fails with an error, while writing to a pipe would raise SIGPIPE.
final class PinentryProcess {
  /// The maximum length of a line without its end, as in the protocol.
  static let lineByteCount = 1000
  /// The time to exit after the ending signal, in milliseconds.
  private static let endMilliseconds = 1000

  private let process: pid_t
  /// nil after the process was told to end.
  private var connection: OwnedDescriptor?
  private var socket: Int32 { connection?.number ?? -1 }
  /// Received bytes that were not processed yet are at the front.
  private var buffer: Secret
  private var filled = 0
  /// A socket that hangs up when the question is withdrawn; -1 if there is none.
  private let withdrawal: Int32
  /// The question ends when it returns false.
  private let isWanted: (() -> Bool)?
  /// The interval between calls of `isWanted`, in milliseconds.
  private static let lookMilliseconds: Int32 = 100

  /// - Throws: `notStarted`; `VaultError` of locked memory.
  init(
    _ program: String, _ environment: [String: String], withdrawal: Int32, while isWanted: (() -> Bool)?
  ) throws {
    self.withdrawal = withdrawal
    self.isWanted = isWanted
    buffer = try Secret(count: Self.lineByteCount + 1)
    var pair: [Int32] = [-1, -1]
    guard unsafe coffer_local_pair(&pair) == 0, let theirs = OwnedDescriptor(pair[1]) else {
      throw PinentryError(.notStarted, "errno \(errno)")
    }
    connection = OwnedDescriptor(pair[0])
    process = try Self.start(program, environment, theirs.number)
  }

  /// Starts the program in a session of its own, so that no key typed at our terminal ends it, and with no descriptor but the
  /// socket.
  private static func start(_ program: String, _ environment: [String: String], _ socket: Int32) throws -> pid_t {
    var child = ChildProgram(program)
    child.environment = environment.map { "\($0)=\($1)" }
    child.streams = [.descriptor(socket), .descriptor(socket), .none]
    child.hasSession = true
    child.blocked = ChildProgram.noSignals
    child.defaults = ChildProgram.allSignals
    let started = child.start()
    guard started.errno == 0 else { throw PinentryError(.notStarted, "\(program): errno \(started.errno)") }
    return started.process
  }

  deinit { stop() }

  /// Sends SIGALRM, on which a pinentry ends at its own time limit, so that one in a terminal restores it; then SIGKILL.
  private func stop() {
    let ending = OwnedDescriptor(coffer_pidfd_open(process))
    kill(process, SIGALRM)
    connection = nil
    if let ending {
      var entry = pollfd(fd: ending.number, events: Int16(POLLIN), revents: 0)
      let deadline = Deadline(milliseconds: Self.endMilliseconds)
      while unsafe poll(&entry, 1, deadline.left) < 0, errno == EINTR {}
    }
    kill(process, SIGKILL)
    _ = ChildProgram.wait(for: process)
  }

  // MARK: Lines

  /// - Throws: `PinentryError`.
  func send(_ line: String, _ deadline: Deadline) throws {
    let bytes = Array("\(line)\n".utf8)
    // A longer line would end the pinentry, and the question with it.
    guard bytes.count <= Self.lineByteCount + 1 else { throw PinentryError(.lineTooLong, "\(bytes.count) bytes to be sent") }
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
        return unsafe Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count >= 0 { sent += count } else { try waitAfterError(Int16(POLLOUT), deadline) }
    }
  }

  /// Passes the next line, without its end, to `body`.
  /// - Throws: `PinentryError`; what `body` throws.
  func receive<Result>(_ deadline: Deadline, _ body: (RawSpan) throws -> Result) throws -> Result {
    while true {
      if let end = lineEnd {
        let result = try buffer.withBytes { try body($0.extracting(0..<end)) }
        drop(end + 1)
        return result
      }
      guard filled < buffer.count else { throw PinentryError(.lineTooLong, "more than \(Self.lineByteCount) bytes") }
      // Checked here too, because lines may arrive continuously.
      guard deadline.left > 0 else { throw PinentryError(.silent) }
      let (start, socket) = (filled, socket)
      let got = buffer.withMutableBytes { span in
        unsafe span.withUnsafeMutableBytes { bytes in
          let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
          return unsafe recv(socket, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT))
        }
      }
      guard got != 0 else { throw PinentryError(.ended) }
      if got > 0 { filled += got } else { try waitAfterError(Int16(POLLIN), deadline) }
    }
  }

  private var lineEnd: Int? {
    let filled = filled
    return buffer.withBytes { bytes in (0..<filled).first { bytes.byte(at: $0) == UInt8(ascii: "\n") } }
  }

  /// Moves the rest to the front, and wipes the freed bytes.
  private func drop(_ count: Int) {
    let end = filled
    buffer.withMutableBytes { span in
      unsafe span.withUnsafeMutableBytes { bytes in
        for index in 0..<end { unsafe bytes[index] = index + count < end ? unsafe bytes[index + count] : 0 }
      }
    }
    filled = end - count
  }

  /// - Throws: `silent`, `withdrawn`, `background`, `ended`.
  private func waitAfterError(_ event: Int16, _ deadline: Deadline) throws {
    switch errno {
    case EINTR: return
    case EAGAIN: break
    default: throw PinentryError(.ended, "errno \(errno)")
    }
    // Only a hang-up of the asking process counts; data that it has sent is read later.
    var entries = [pollfd(fd: socket, events: event, revents: 0), pollfd(fd: withdrawal, events: 0, revents: 0)]
    if let isWanted { guard isWanted() else { throw PinentryError(.background) } }
    let left = deadline.left
    let ready = unsafe poll(&entries, 2, isWanted == nil ? left : min(left, Self.lookMilliseconds))
    if ready == 0, deadline.left == 0 { throw PinentryError(.silent) }
    if ready > 0, entries[1].revents != 0 { throw PinentryError(.withdrawn) }
  }
}

extension RawSpan {
  func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
