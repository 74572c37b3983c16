package import Coffer
import CofferRequests
import MessageBus
import VaultCore

/// The signals, for the changes of all programs: from the agent's notices.
extension Service {
  /// Runs until the agent refuses the notices; while no agent runs it waits for one. If more happens than can be told, the queue of
  /// notices is what drops it.
  package func follow(_ keychain: Keychain) async {
    let store = ItemStore(keychain: keychain, temporary: temporary)
    do {
      // One that cannot be looked up any more has gone, which is the next notice.
      for try await change in keychain.changes { try? heard(change, store) }
    } catch {
      // Clients get no signals then: their calls are answered all the same.
    }
  }

  private func heard(_ change: KeychainChange, _ store: ItemStore) throws {
    if let group = change.reference?.group, group == .secretService {
      try catalogChanged(store)
      return
    }
    switch change {
    case .added(let reference):
      if let path = state.path(of: reference), let name = CollectionGroup.name(of: reference.group) {
        created(path, in: name)
      } else if let item = try known(reference, store) {
        created(item.path, in: item.collection)
      }
    case .updated(let reference): if let item = try known(reference, store) { changed(item) }
    case .removed(let reference): removed(reference)
    case .locked: break
    case .unlocked:
      // The owner has given the passphrase, which is all that a locked collection asks for.
      state.unlockAll()
      for collection in try catalogChanged(store) { try changed(collection, store) }
    case .missed: try catalogChanged(store)
    }
  }

  /// From now on clients know it.
  private func known(_ reference: Reference, _ store: ItemStore) throws -> StoredItem? {
    guard let item = StoredItem(try store.keychain.entry(reference)) else { return nil }
    state.handOut([item])
    return item
  }

  func removed(_ reference: Reference) {
    guard let path = state.takeBack(reference), let name = CollectionGroup.name(of: reference.group) else { return }
    send(ObjectPath.collection(name), Interface.collection, "ItemDeleted", path)
  }

  func created(_ path: String, in collection: String) {
    send(ObjectPath.collection(collection), Interface.collection, "ItemCreated", path)
  }

  func changed(_ item: StoredItem) {
    send(ObjectPath.collection(item.collection), Interface.collection, "ItemChanged", item.path)
    propertiesChanged(
      item.path, Interface.item, [("Label", .text(item.label)), ("Attributes", .texts(item.attributes))])
  }

  /// - Returns: The collections now.
  @discardableResult private func catalogChanged(_ store: ItemStore) throws -> [Collection] {
    state.forgetCatalog()
    let now = try catalog(store).collections
    let before = state.announce(now)
    let (old, new) = (Set(before.map(\.name)), Set(now.map(\.name)))
    for name in new.subtracting(old).sorted() {
      send(ObjectPath.root, Interface.service, "CollectionCreated", ObjectPath.collection(name))
    }
    for name in old.subtracting(new).sorted() {
      send(ObjectPath.root, Interface.service, "CollectionDeleted", ObjectPath.collection(name))
    }
    for collection in now where old.contains(collection.name) && !before.contains(collection) { try changed(collection, store) }
    if old != new {
      propertiesChanged(
        ObjectPath.root, Interface.service, [("Collections", .paths(now.map { ObjectPath.collection($0.name) }))])
    }
    return now
  }

  /// Its label, or whether it is locked.
  func changed(_ collection: Collection, _ store: ItemStore) throws {
    let path = ObjectPath.collection(collection.name)
    send(ObjectPath.root, Interface.service, "CollectionChanged", path)
    propertiesChanged(
      path, Interface.collection, [("Label", .text(collection.label)), ("Locked", .flag(try isLocked(collection, store)))])
  }

  private func send(_ path: String, _ interface: Interface, _ member: String, _ argument: String) {
    outbox.send(Outbox.Signal(path, interface.name, member, [.path(argument)]))
  }

  private func propertiesChanged(_ path: String, _ interface: Interface, _ properties: [(String, Value)]) {
    outbox.send(
      Outbox.Signal(
        path, Interface.properties, "PropertiesChanged",
        [.text(interface.name), .properties(properties), .array(element: "s", [])]))
  }
}

extension KeychainChange {
  fileprivate var reference: Reference? {
    switch self {
    case .added(let reference), .updated(let reference), .removed(let reference): reference
    case .locked, .unlocked, .missed: nil
    }
  }
}
