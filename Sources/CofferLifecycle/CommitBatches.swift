package import VaultCore
import VaultUpkeep

extension Vault {
  /// Carries out changes in commits of at most 500 changes, each of which ends with the change that reaches 16 MiB. A commit for
  /// each change would write the path to its row, and the header, each time.
  /// - Parameter change: Returns how many bytes its rows have.
  /// - Throws: the error of `change`; errors of the commit. The commits before it stand.
  package mutating func commitInBatches<Element>(
    _ elements: some Sequence<Element>, _ change: (Element, inout Transaction) throws -> Int
  ) throws {
    var iterator = elements.makeIterator()
    var next = iterator.next()
    while next != nil {
      try transaction { transaction in
        var (count, byteCount) = (0, 0)
        while let element = next, count < Transaction.batchRowCount, byteCount < Transaction.batchByteCount {
          byteCount += try change(element, &transaction)
          count += 1
          next = iterator.next()
        }
      }
    }
  }
}
