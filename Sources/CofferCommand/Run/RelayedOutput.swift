import CLinux
import CofferConsole
import CofferFiles
import Glibc
import ProgramSecrets
import SecretMemory

/// Output of a program on its way through the masker to where this process would have written it.
final class RelayedOutput {
  /// Closed if nothing can be written any more: then the program gets SIGPIPE, as it would without this process.
  private var source: HeldDescriptor?
  private let isTerminal: Bool
  /// A terminal is opened anew, so that writing never waits, and the mode of the descriptor that others share stays.
  private let reopened: HeldDescriptor?
  let target: Descriptor
  private let isFile: Bool
  private let addsReturns: () -> Bool
  private var masker: OutputMasker

  private(set) var isOver = false
  /// For a terminal that is gone: its programs get SIGHUP, and until they end they may write.
  private var isDiscarding = false
  /// Whether output was lost for another reason than the end of its reader.
  private(set) var hasLost = false
  private var isBlocked = false
  /// The bytes that may still be taken, once the program has ended.
  private var remaining: Int?

  private static let releaseTime: Int32 = 25
  /// Errors of a write that say nothing of later ones: a full disk, a quota, the largest size of a file, a disk that fails.
  private static let passing = [ENOSPC, EDQUOT, EFBIG, EIO]
  /// A pipe that can be written takes as much as this without a wait.
  private static let portion = Int(PIPE_BUF)
  /// More than the buffers of a pseudo-terminal hold.
  private static let terminalLimit = 1 << 20

  /// - Parameters:
  ///   - source: Where the program writes.
  ///   - isTerminal: Whether that is a pseudo-terminal.
  ///   - addsReturns: Whether the target writes CR and LF for each LF, as the pseudo-terminal has done already.
  init(
    _ source: consuming OwnedDescriptor, isTerminal: Bool, to target: Descriptor, _ secrets: ConcealedSecrets,
    addsReturns: @escaping () -> Bool = { false }
  ) throws {
    self.addsReturns = addsReturns
    _ = fcntl(source.number, F_SETFL, fcntl(source.number, F_GETFL) | O_NONBLOCK)
    self.source = HeldDescriptor(source)
    self.isTerminal = isTerminal
    reopened = isTerminal ? Self.reopen(target.number) : nil
    self.target = Descriptor(number: reopened?.number ?? target.number, name: target.name)
    var status = stat()
    isFile = unsafe fstat(target.number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    masker = try OutputMasker(secrets)
  }

  private static func reopen(_ terminal: Int32) -> HeldDescriptor? {
    guard let path = unsafe ttyname(terminal) else { return nil }
    guard let owned = OwnedDescriptor(unsafe open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)) else { return nil }
    return HeldDescriptor(owned)
  }

  // MARK: Waiting

  /// For poll(2): the program, and the reader, whose end is reported without a wish for events.
  var entries: [pollfd] {
    let source = isOver || isBlocked ? -1 : source?.number ?? -1
    let target = isOver || isDiscarding || isFile ? -1 : target.number
    return [
      pollfd(fd: source, events: Int16(POLLIN), revents: 0),
      pollfd(fd: target, events: isBlocked ? Int16(POLLOUT) : 0, revents: 0),
    ]
  }

  /// The time after which `release` is due, in milliseconds. -1 if it is not.
  var releaseTime: Int32 { !isOver && !isBlocked && masker.hasShortTail ? Self.releaseTime : -1 }

  /// After the time is over: a prompt may end with the bytes that are held back.
  func release() {
    guard releaseTime >= 0 else { return }
    masker.release()
    write()
  }

  /// Has cat(1) read what programs that were left behind go on to write: they would get SIGPIPE once this process has ended.
  /// - Returns: Whether there are any.
  func leave() -> Bool {
    guard !isTerminal, let source, let root = OwnedDescriptor(unsafe open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else {
      return false
    }
    var entry = pollfd(fd: source.number, events: 0, revents: 0)
    // The end of the last writer is reported without a wish for events.
    guard unsafe poll(&entry, 1, 0) == 0 else { return false }
    _ = fcntl(source.number, F_SETFL, fcntl(source.number, F_GETFL) & ~O_NONBLOCK)
    var reader = ChildProgram("cat")
    reader.isSearched = true
    reader.streams = [.descriptor(source.number), .none, .none]
    reader.directory = root.number
    reader.hasSession = true
    reader.blocked = ChildProgram.noSignals
    _ = reader.start()
    return true
  }

  // MARK: Moving

  /// From now on nothing is taken but what the program has written by now. Programs that it has left behind may still write.
  func programHasEnded() {
    var count: Int32 = 0
    if !isTerminal { _ = unsafe ioctl(source?.number ?? -1, UInt(FIONREAD), &count) }
    remaining = isTerminal ? Self.terminalLimit : Int(count)
  }

  /// Takes what is there and writes what can be.
  /// - Parameter entries: As poll(2) has left them.
  func move(_ entries: ArraySlice<pollfd>) {
    if let target = entries.last, target.fd >= 0, Int32(target.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 {
      fail(SystemError(number: EPIPE))
    }
    guard entries.contains(where: { $0.revents != 0 }) else { return }
    move()
  }

  func move() {
    guard !isOver, write(), let source else { return }
    let limit = remaining ?? .max
    guard limit > 0 else { return finish() }
    var number: Int32 = 0
    let count = unsafe masker.fill { room in
      let taken = retrying { unsafe read(source.number, room.baseAddress, min(limit, room.count)) }
      number = taken.errno
      return max(0, taken.result)
    }
    // A pseudo-terminal that no program has open is at its end with EIO.
    if count == 0, number != EAGAIN || remaining != nil { return finish() }
    if remaining != nil { remaining = limit - count }
    write()
  }

  private func finish() {
    masker.finish()
    if write() { isOver = true }
  }

  /// - Returns: Whether all that is decided was written.
  @discardableResult private func write() -> Bool {
    do {
      isBlocked = unsafe try !masker.write { unsafe try put($0) }
    } catch {
      fail(error as? SystemError ?? SystemError(number: EIO))
    }
    return !isBlocked && !isOver
  }

  private func put(_ bytes: UnsafeRawBufferPointer) throws -> Int {
    guard !isDiscarding else { return bytes.count }
    if !isFile {
      var entry = pollfd(fd: target.number, events: Int16(POLLOUT), revents: 0)
      guard retrying({ unsafe poll(&entry, 1, 0) }).result > 0 else { return 0 }
    }
    var count = isFile ? bytes.count : min(bytes.count, Self.portion)
    if isTerminal, addsReturns(), let end = unsafe Self.returnBeforeLineEnd(in: bytes, count) {
      guard end > 0 else { return 1 }
      count = end
    }
    let written = retrying { unsafe Glibc.write(target.number, bytes.baseAddress, count) }
    guard written.result < 0 else { return written.result }
    if written.errno == EAGAIN { return 0 }
    let error = SystemError(number: written.errno)
    guard !isTerminal, Self.passing.contains(error.number) else { throw error }
    // Without this process each write of the program would fail until there is room again, and the program might go on.
    tell(error)
    return count
  }

  /// Once, and at once: a program may run for months.
  private func tell(_ error: SystemError) {
    guard !hasLost else { return }
    hasLost = true
    // The terminal may be in raw mode.
    let end = Descriptor.error.isTerminal ? "\r\n" : "\n"
    Descriptor.error.note("coffer: \(error.failure(target.name).message): output is lost\(end)")
  }

  private static func returnBeforeLineEnd(in bytes: UnsafeRawBufferPointer, _ count: Int) -> Int? {
    (0..<count).first { unsafe bytes[$0] == 0x0D && $0 + 1 < bytes.count && bytes[$0 + 1] == 0x0A }
  }

  private func fail(_ error: SystemError) {
    if error.number != EPIPE, !isTerminal { tell(error) }
    isBlocked = false
    if isTerminal {
      isDiscarding = true
    } else {
      isOver = true
      source = nil
    }
  }
}
