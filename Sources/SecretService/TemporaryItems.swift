import Coffer
import CofferRequests
import Glibc
import MessageBus
import SecretMemory
import Synchronization
import VaultCore

/// The items of the collection `session`, which are gone with this process. Their secrets are in locked memory.
final class TemporaryItems: Sendable {
  static let maximumCount = 1024
  /// The limit for all secrets together: the memory that a process may lock is small.
  static let maximumSecretByteCount = 2 << 20
  /// The limit for all attributes together.
  static let maximumAttributeByteCount = 16 << 20

  private struct Kept {
    var entry: Entry
    var secret: Value.Bytes
  }

  private struct Contents {
    var items: [String: Kept] = [:]
    /// Decides between items of one second, as the generation of a vault does.
    var generation: UInt64 = 0
  }

  private let contents = Mutex(Contents())

  func items(with attributes: [String: String]) -> [StoredItem] {
    all().filter { item in
      let own = item.attributes
      return attributes.allSatisfy { own[$0.key] == $0.value }
    }
  }

  func item(_ id: String) throws(BusError) -> StoredItem {
    guard let item = contents.withLock({ $0.items[id]?.entry }).flatMap(StoredItem.init) else { throw .noSuchObject }
    return item
  }

  func secret(of item: StoredItem) throws -> Secret {
    guard let bytes = contents.withLock({ $0.items[item.id]?.secret }) else { throw BusError.noSuchObject }
    return try bytes.secret.duplicate()
  }

  private func all() -> [StoredItem] { contents.withLock { $0.items.values.compactMap { StoredItem($0.entry) } } }

  /// - Throws: `BusError`: `limitsExceeded`; errors of locked memory.
  func add(_ item: Item, _ secret: borrowing Secret, in group: AccessGroup) throws -> StoredItem {
    let now = Timestamp(secondsSince1970: Int64(time(nil)))
    var item = item
    item.attributes["created"] = .time(now)
    item.modified = now
    guard let id = item["account"], let reference = try Identifier(Secret.random(count: 16).copyIntoUnprotectedBytes()) else {
      throw BusError.failed("an item without a name")
    }
    let entry = Entry(
      reference: Reference(group: group, id: reference), item: item, accessibility: .afterFirstUnlock, generation: 0)
    return try keep(Kept(entry: entry, secret: Value.Bytes(try secret.duplicate())), as: id, mustExist: false)
  }

  /// - Parameter secret: nil: the one that it has.
  func change(_ item: StoredItem, _ secret: borrowing Secret?, _ body: (inout Item) throws -> Void) throws {
    guard var kept = contents.withLock({ $0.items[item.id] }) else { throw BusError.noSuchObject }
    var changed = kept.entry.item
    try body(&changed)
    changed.modified = Timestamp(secondsSince1970: Int64(time(nil)))
    kept.entry = Entry(
      reference: kept.entry.reference, item: changed, accessibility: kept.entry.accessibility, generation: 0)
    switch secret {
    case .some(let secret): kept.secret = Value.Bytes(try secret.duplicate())
    case .none: break
    }
    _ = try keep(kept, as: item.id, mustExist: true)
  }

  func remove(_ item: StoredItem) throws(BusError) {
    guard contents.withLock({ $0.items.removeValue(forKey: item.id) }) != nil else { throw .noSuchObject }
  }

  private func keep(_ new: Kept, as id: String, mustExist: Bool) throws(BusError) -> StoredItem {
    let result = contents.withLock { contents -> Result<Entry, BusError> in
      guard contents.items[id] != nil || !mustExist else { return .failure(.noSuchObject) }
      let others = contents.items.filter { $0.key != id }.values
      guard others.count < Self.maximumCount,
        others.reduce(new.secret.secret.count, { $0 + $1.secret.secret.count }) <= Self.maximumSecretByteCount,
        others.reduce(new.entry.item.byteCount, { $0 + $1.entry.item.byteCount }) <= Self.maximumAttributeByteCount
      else { return .failure(.limitsExceeded("the collection session is full")) }
      contents.generation += 1
      let entry = Entry(
        reference: new.entry.reference, item: new.entry.item, accessibility: new.entry.accessibility,
        generation: contents.generation)
      contents.items[id] = Kept(entry: entry, secret: new.secret)
      return .success(entry)
    }
    guard let item = StoredItem(try result.get()) else { throw .failed("an item without a name") }
    return item
  }
}

extension Item {
  fileprivate var byteCount: Int {
    attributes.reduce(0) { count, attribute in
      if case .text(let text) = attribute.value { count + attribute.name.utf8.count + text.utf8.count } else { count }
    }
  }
}
