/// Where the log lies. It may lie, delay, repeat and forget: what it returns is proven, and it gets no keys.
package protocol Engine: AnyObject {
  /// Makes entry `number`, unless there is one, and only behind entry `number - 1`.
  func append(_ number: UInt64, _ entry: [UInt8]) throws -> Appended
  /// At most `limit` entries from a number on, ascending. Old ones may have been deleted.
  func read(from number: UInt64, limit: Int) throws -> [NumberedEntry]
  func put(_ name: ObjectName, _ object: [UInt8]) throws
  func get(_ name: ObjectName) throws -> [UInt8]?
}

package struct NumberedEntry: Equatable, Sendable {
  package let number: UInt64
  package let bytes: [UInt8]

  package init(_ number: UInt64, _ bytes: [UInt8]) { (self.number, self.bytes) = (number, bytes) }
}

package enum Appended: Equatable, Sendable {
  /// The engine has it, as it says. Only reading shows it.
  case made
  /// Another entry came first.
  case taken
  /// The engine has fewer entries than the number.
  case shorter
}

/// The times between attempts, in milliseconds.
package enum Backoff {
  /// Before another attempt to append, if another entry came first.
  /// - Parameter random: In 0..<1.
  package static func afterContention(_ tries: Int, random: Double) -> Double {
    random * min(1000, 10 * Double(sign: .plus, exponent: min(tries, 16), significand: 1))
  }

  /// Before another attempt to reach the engine: up to 5 minutes.
  package static func afterOutage(_ tries: Int, random: Double) -> Double {
    random * min(300_000, 500 * Double(sign: .plus, exponent: min(tries, 16), significand: 1))
  }
}
