package import CofferSync

/// An engine that lets other devices append first.
package final class PrecedingEngine: Engine {
  private let engine: any Engine
  private var others: [() throws -> Void]

  /// - Parameter others: Each appends before another call of the device that has this engine.
  package init(_ engine: any Engine, others: [() throws -> Void]) { (self.engine, self.others) = (engine, others) }

  package func append(_ number: UInt64, _ entry: [UInt8]) throws -> Appended {
    if !others.isEmpty { try others.removeFirst()() }
    return try engine.append(number, entry)
  }

  package func read(from number: UInt64, limit: Int) throws -> [NumberedEntry] { try engine.read(from: number, limit: limit) }
  package func put(_ name: ObjectName, _ object: [UInt8]) throws { try engine.put(name, object) }
  package func get(_ name: ObjectName) throws -> [UInt8]? { try engine.get(name) }
  package func names(after name: ObjectName?) throws -> [ObjectName] { try engine.names(after: name) }
  package func delete(_ names: [ObjectName]) throws { try engine.delete(names) }
  package func deleteEntries(_ ranges: [Range<UInt64>]) throws { try engine.deleteEntries(ranges) }
}
