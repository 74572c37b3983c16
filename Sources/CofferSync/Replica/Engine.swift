/// Where the log lies. It may lie, delay, repeat and forget: what it returns is proven, and it gets no keys.
package protocol Engine: AnyObject {
  /// Makes entry `number`, unless there is one, and only behind entry `number - 1`.
  func append(_ number: UInt64, _ entry: [UInt8]) throws -> Appended
  /// At most `limit` entries from a number on, ascending. Old ones may have been deleted.
  func read(from number: UInt64, limit: Int) throws -> [NumberedEntry]
  func put(_ name: ObjectName, _ object: [UInt8]) throws
  func get(_ name: ObjectName) throws -> [UInt8]?
  /// The names of objects, ascending: at most `ObjectName.pageCount` behind a name, or from the first one on. Empty at the end.
  func names(after name: ObjectName?) throws -> [ObjectName]
  /// Deletes those of the objects that are there.
  func delete(_ names: [ObjectName]) throws
  /// Deletes those of the entries that are there.
  func deleteEntries(_ ranges: [Range<UInt64>]) throws
}

extension Engine {
  /// The names that one look reads: an engine that never ends does not hold the caller.
  private static var nameLimit: Int { 1_000_000 }

  /// - Returns: nil if there are too many, or if the engine repeats itself.
  package func allNames() throws -> Set<ObjectName>? {
    var names: Set<ObjectName> = []
    var last: ObjectName?
    while true {
      let page = try self.names(after: last)
      guard !page.isEmpty else { return names }
      for name in page {
        guard last.map({ $0 < name }) ?? true, names.count < Self.nameLimit else { return nil }
        names.insert(name)
        last = name
      }
    }
  }
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
