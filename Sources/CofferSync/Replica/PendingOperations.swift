import VaultCore

/// An operation that no read has shown yet.
package struct PendingOperation: Sendable {
  package let operation: Operation
  /// One of many deletions, which a person has to confirm.
  package internal(set) var isHeld = false
}

/// The changes of this device that no read has shown yet, in the order in which they were made. Those of one item are found without a
/// walk, because a group that is shared is as many changes as it has items.
package struct PendingOperations: RandomAccessCollection, MutableCollection, ExpressibleByArrayLiteral, Sendable {
  private var elements: [PendingOperation] = []
  /// The places of each item's, counted from the first change that ever was in `elements`.
  private var places: [EntityKey: [Int]] = [:]
  private var removedCount = 0

  init(_ elements: some Sequence<PendingOperation>) { for element in elements { append(element) } }

  package init(arrayLiteral elements: PendingOperation...) { self.init(elements) }

  package var startIndex: Int { 0 }
  package var endIndex: Int { elements.count }

  package subscript(index: Int) -> PendingOperation {
    get { elements[index] }
    set {
      precondition(newValue.operation.key == elements[index].operation.key)
      elements[index] = newValue
    }
  }

  package subscript(key: EntityKey) -> [PendingOperation] { places[key]?.map { elements[$0 - removedCount] } ?? [] }

  mutating func append(_ element: PendingOperation) {
    places[element.operation.key, default: []].append(removedCount + elements.count)
    elements.append(element)
  }

  mutating func removeAll(where isRemoved: (PendingOperation) -> Bool) {
    let count = elements.prefix(while: isRemoved).count
    for index in 0..<count {
      let key = elements[index].operation.key
      places[key]?.removeFirst()
      if places[key]?.isEmpty == true { places[key] = nil }
    }
    removedCount += count
    elements.removeFirst(count)
    // Mostly they are the first ones.
    if elements.contains(where: isRemoved) { self = PendingOperations(elements.filter { !isRemoved($0) }) }
  }
}

extension PendingOperations: CustomReflectable {
  /// The operations alone: their places follow from them.
  package var customMirror: Mirror { Mirror(reflecting: elements) }
}
