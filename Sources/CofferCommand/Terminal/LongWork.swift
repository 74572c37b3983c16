package import CofferConsole
import Glibc

/// Work that may take longer than a second: from then on a bar on standard error shows how far it is, if that is a terminal.
///
/// SIGINT and SIGTERM wait for the next `step`, which throws: so work ends where it can be undone, and its files are removed. A signal
/// that comes after the last step changes nothing.
package final class LongWork {
  private static let signals = [SIGINT, SIGTERM, SIGHUP]
  private static let width: UInt64 = 24

  private var name: String
  private let output: Descriptor
  private let beginning: ContinuousClock.Instant
  private let signals: BlockedSignals
  private var shown = ""

  /// - Parameters:
  ///   - name: For people, such as `checking`.
  ///   - delay: The time after which the bar is shown.
  package init(_ name: String, on output: Descriptor = .error, after delay: Duration = .seconds(1)) throws {
    self.name = name
    self.output = output
    beginning = ContinuousClock.now + delay
    signals = try BlockedSignals(Self.signals)
  }

  deinit { end() }

  /// To be called every thousand records or so.
  /// - Throws: `Failure.cancelled` after a signal.
  package func step(_ done: UInt64, of total: UInt64) throws {
    if signals.next() != nil {
      end()
      throw Failure.cancelled
    }
    guard total > 0, output.isTerminal, ContinuousClock.now >= beginning else { return }
    let share = min(100, done * 100 / total)
    let filled = Int(share * Self.width / 100)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Int(Self.width) - filled)
    let line = "\(name) [\(bar)] \(share) %"
    guard line != shown else { return }
    shown = line
    output.note("\r\(line)")
  }

  /// Goes on with a further part of the work.
  package func begin(_ part: String) {
    wipe()
    name = part
  }

  /// Wipes the bar. Signals that have come by now are dropped: the work is done, or has failed.
  package func end() {
    while signals.next() != nil {}
    wipe()
  }

  private func wipe() {
    guard !shown.isEmpty else { return }
    output.note("\r\(String(repeating: " ", count: shown.count))\r")
    shown = ""
  }
}
