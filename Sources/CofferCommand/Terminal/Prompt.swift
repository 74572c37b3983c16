import CLinux
import CofferConsole
import Glibc
import SecretMemory

/// Asks a person at the controlling terminal for something that must not be seen.
///
/// Reads byte by byte in non-canonical mode: the kernel's own line discipline would keep the line in its buffer and cut it at
/// 4,095 bytes. `HiddenTerminal` keeps echo off afterwards, for the questions that may follow.
struct Prompt: ~Copyable {
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT]

  private let terminal: Descriptor
  private let signals: BlockedSignals

  /// Returns nil if there is no controlling terminal, or another job has it.
  static func open() throws -> Prompt? {
    guard let terminal = HiddenTerminal.hide() else { return nil }
    return try Prompt(terminal)
  }

  private init(_ terminal: Descriptor) throws {
    signals = try BlockedSignals(Self.signals)
    self.terminal = terminal
  }

  /// Text that may be seen.
  borrowing func say(_ text: String) throws {
    try terminal.write(text.escapingControls() + "\n")
  }

  /// One line without its end.
  /// - Throws: `Failure.cancelled` after an interrupt, an end of file on an empty line, or when the terminal has gone.
  /// - Parameters:
  ///   - isShown: for answers that are no secrets.
  ///   - isFresh: whether only what is typed from now on is an answer: a yes that was typed before the question agrees to
  ///     nothing.
  borrowing func ask(_ question: String, isShown: Bool = false, isFresh: Bool) throws -> Secret {
    var line = try TypedLine()
    if isFresh { HiddenTerminal.discardTypedAhead() }
    try terminal.write(question)
    while true {
      try waitForKey(question: question, line: &line)
      guard let key = try nextByte() else { throw Failure.cancelled }
      switch key {
      case 0x0A, 0x0D:
        try terminal.write("\n")
        return line.finish()
      case 0x04:
        guard line.count > 0 else {
          try terminal.write("\n")
          throw Failure.cancelled
        }
      case 0x7F, 0x08, HiddenTerminal.eraseKey:
        if isShown, line.count > 0 { try terminal.write("\u{8} \u{8}") }
        line.removeLastCharacter()
      case 0x15: line.removeAll()
      default:
        if isShown, (0x20...0x7E).contains(key) { try terminal.write(String(UnicodeScalar(key))) }
        try line.append(key)
      }
    }
  }

  /// Comes back when there is a key to read. Signals are handled here.
  private borrowing func waitForKey(question: String, line: inout TypedLine) throws {
    while true {
      var entries = [
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: terminal.number, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&entries, 2, -1) >= 0 || errno == EINTR else { throw SystemError.last.failure("terminal") }
      var isNew = false
      while let signal = signals.next() {
        isNew = try answer(signal) || isNew
      }
      if isNew {
        line.removeAll()
        try terminal.write(question)
      } else if entries[1].revents != 0 {
        return
      }
    }
  }

  /// Whether the question must be asked anew.
  private borrowing func answer(_ signal: Int32) throws -> Bool {
    switch signal {
    case SIGINT:
      try terminal.write("\n")
      throw Failure.cancelled
    case SIGTSTP, SIGCONT:
      signals.letThrough(signal)
      return true
    default:
      if !signals.wasBlocked(signal) { signals.letThrough(signal) }
      throw Failure.cancelled
    }
  }

  private borrowing func nextByte() throws -> UInt8? {
    var byte: UInt8 = 0
    defer { unsafe withUnsafeMutableBytes(of: &byte) { unsafe explicit_bzero($0.baseAddress!, 1) } }
    let count = try unsafe withUnsafeMutableBytes(of: &byte) { try unsafe terminal.read(into: $0) }
    return count == 1 ? byte : nil
  }
}
