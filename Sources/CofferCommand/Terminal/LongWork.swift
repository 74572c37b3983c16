package import CofferConsole
import Glibc

/// Work that may take longer than a second: from then on a bar on standard error shows how far it is, if that is a terminal.
///
/// SIGINT, SIGTERM and SIGHUP wait for the next `step`, which throws: so work ends where it can be undone, and its files are removed. A
/// signal that comes after the last step changes nothing. One that the process was started to ignore stays ignored. A part that may take
/// long without a step, such as a question or a pipe that is not read, stands after `pause`: there a signal ends the process.
package final class LongWork {
  private static let signals = [SIGINT, SIGTERM, SIGHUP]
  private static let width: UInt64 = 24

  private var name: String
  private let output: Descriptor
  private let beginning: ContinuousClock.Instant
  private var signals: BlockedSignals?
  private var shown = ""

  /// - Parameters:
  ///   - name: For people, such as `checking`.
  ///   - delay: The time after which the bar is shown.
  package init(_ name: String, on output: Descriptor = .error, after delay: Duration = .seconds(1)) throws {
    self.name = name
    self.output = output
    beginning = ContinuousClock.now + delay
    signals = try Self.blocked()
  }

  deinit { end() }

  private static func blocked() throws -> BlockedSignals { try BlockedSignals(BlockedSignals.notIgnored(signals)) }

  /// To be called every thousand records or so.
  /// - Throws: `Failure.cancelled` after a signal.
  package func step(_ done: UInt64, of total: UInt64) throws {
    try check()
    guard total > 0, output.isTerminal, ContinuousClock.now >= beginning else { return }
    let share = min(100, done * 100 / total)
    let filled = Int(share * Self.width / 100)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Int(Self.width) - filled)
    let line = "\(name) [\(bar)] \(share) %"
    guard line != shown else { return }
    shown = line
    output.note("\r\(line)")
  }

  /// Before a commit, and after a part that handles signals by itself.
  /// - Throws: `Failure.cancelled` after a signal.
  package func check() throws {
    guard signals.next() == nil else {
      end()
      throw Failure.cancelled
    }
  }

  /// Goes on with a further part of the work.
  package func begin(_ part: String) throws {
    wipe()
    name = part
    if signals == nil { signals = try Self.blocked() }
  }

  /// Before a part without steps. Signals act at once until `begin`.
  /// - Throws: `Failure.cancelled` after a signal.
  package func pause() throws {
    try check()
    wipe()
    signals = nil
  }

  /// Waits until a short text can be written at once. A pipe or terminal may take nothing for long.
  /// - Throws: `Failure.cancelled` after a signal.
  package func waitForRoom(in output: Descriptor) throws { try wait(Int16(POLLOUT), output.number, output.name) }

  /// Waits until something can be read, or the other end has closed.
  /// - Throws: `Failure.cancelled` after a signal.
  package func wait(for descriptor: Int32) throws { try wait(Int16(POLLIN), descriptor, "poll") }

  private func wait(_ event: Int16, _ descriptor: Int32, _ name: String) throws {
    while true {
      try check()
      var entries = [
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: descriptor, events: event, revents: 0),
      ]
      guard unsafe poll(&entries, 2, -1) >= 0 else {
        guard errno == EINTR else { throw SystemError.last.failure(name) }
        continue
      }
      if entries[1].revents != 0 { return }
    }
  }

  /// Wipes the bar. Signals that have come by now are dropped: the work is done, or has failed.
  package func end() {
    while signals.next() != nil {}
    wipe()
    signals = nil
  }

  private func wipe() {
    guard !shown.isEmpty else { return }
    output.note("\r\(String(repeating: " ", count: shown.count))\r")
    shown = ""
  }
}

extension BlockedSignals? {
  /// -1, which poll(2) passes over, if there are none.
  fileprivate var descriptor: Int32 {
    switch self {
    case .some(let signals): signals.descriptor
    case .none: -1
    }
  }

  fileprivate borrowing func next() -> Int32? {
    switch self {
    case .some(let signals): signals.next()
    case .none: nil
    }
  }
}
