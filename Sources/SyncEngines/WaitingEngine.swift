package import CofferSync

/// How a change of the log is noticed.
package struct LogSign: Sendable {
  /// Readable after a change; nil if the engine has none.
  package let descriptor: Int32?
  /// The time after which to look, if nothing was readable.
  package let milliseconds: Int32

  package init(descriptor: Int32?, milliseconds: Int32) { (self.descriptor, self.milliseconds) = (descriptor, milliseconds) }
}

/// An engine that tells of new entries. A hint, no more: reading shows what there is.
package protocol WaitingEngine: Engine {
  /// Before the reading that finds nothing, or after it and before another look: no entry comes unnoticed.
  /// - Parameter number: The number of the next entry.
  func beginWaiting(for number: UInt64) throws -> LogSign
  /// Drops what was readable.
  func clearSign()
  /// Whether the log may have an entry of this number, or may lack the one before it.
  func mayHave(_ number: UInt64) throws -> Bool
}

extension WaitingEngine {
  package func clearSign() {}

  package func mayHave(_ number: UInt64) throws -> Bool {
    let start = number == 0 ? 0 : number - 1
    let entries = try read(from: start, limit: 2)
    return number == 0 ? !entries.isEmpty : entries.map(\.number) != [start]
  }
}
