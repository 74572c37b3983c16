import Coffer
import CofferRequests
import MessageBus
import SecretMemory

extension Service {
  // MARK: Service

  func service(_ invocation: Invocation, _ store: ItemStore) throws -> [Value] {
    let arguments = invocation.arguments
    switch (invocation.method.name, arguments.first, arguments.dropFirst().first) {
    case ("OpenSession", .text(let algorithm)?, .variant(let input)?):
      let (session, output) = try Session.open(algorithm, input, for: invocation.sender)
      return [.variant(output), .path(ObjectPath.session(try state.add(session)))]
    case ("CreateCollection", let properties?, .text(let alias)?):
      return [.path(ObjectPath.collection(try createCollection(properties.dictionary, alias, store))), .path(ObjectPath.none)]
    case ("SearchItems", let attributes?, _):
      let found = try sealed(store) { try items(with: attributes.texts, store) }
      state.handOut(found)
      let locked = state.locked
      return [
        .paths(found.filter { !locked.contains($0.collection) }.map(\.path)),
        .paths(found.filter { locked.contains($0.collection) }.map(\.path)),
      ]
    case ("Unlock", let objects?, _): return try unlock(objects.pathTexts, invocation, store)
    case ("Lock", let objects?, _):
      let catalog = try catalog(store)
      let found = try objects.pathTexts.filter { path in
        guard let collection = catalog.collection(at: path) else { return false }
        state.lock(collection.name)
        try changed(collection, store)
        return true
      }
      return [.paths(found), .path(ObjectPath.none)]
    case ("GetSecrets", let objects?, .path(let path)?):
      let session = try state.session(path, of: invocation.sender)
      return [.array(element: "{o(oayays)}", try objects.pathTexts.compactMap { try secret(at: $0, session, path, store) })]
    case ("ReadAlias", .text(let alias)?, _):
      return [.path(try catalog(store).collection(.alias(alias)).map { ObjectPath.collection($0.name) } ?? ObjectPath.none)]
    case ("SetAlias", .text(let alias)?, .path(let path)?):
      try setAlias(alias, path, store)
      return []
    default: throw BusError.invalidArguments(invocation.method.name)
    }
  }

  /// A taken alias leads to the collection that is there.
  private func createCollection(_ properties: [String: Value], _ alias: String, _ store: ItemStore) throws -> String {
    guard try isOpen(store) else { throw BusError.isLocked }
    let catalog = try catalog(store)
    if !alias.isEmpty, let known = catalog.collection(.alias(alias)) { return known.name }
    guard alias.isEmpty || Self.isAlias(alias) else { throw BusError.invalidArguments("the alias") }
    guard case .text(let label)? = properties[Interface.collection.name + ".Label"] else {
      throw BusError.invalidArguments("a collection has a label")
    }
    let name = try store.keychain.addCollection(label, besides: Set(catalog.collections.map(\.name)))
    defer { state.forgetCatalog() }
    guard !alias.isEmpty, try !store.keychain.addAlias(alias, to: name) else { return name }
    // Another program has made the alias in between, or it leads nowhere.
    state.forgetCatalog()
    guard let known = try self.catalog(store).collection(.alias(alias)) else {
      try store.keychain.setAlias(alias, to: name)
      return name
    }
    try store.removeCollection(name, aliases: [], forget: state.forgetCatalog)
    return known.name
  }

  private static func isAlias(_ text: String) -> Bool {
    CollectionGroup.isElement(text) && text.utf8.count <= CollectionGroup.maximumNameByteCount
  }

  private func setAlias(_ alias: String, _ path: String, _ store: ItemStore) throws {
    guard Self.isAlias(alias) else { throw BusError.invalidArguments("the alias") }
    // They lead where programs keep what they keep at log-in, and for the session.
    guard alias != Collection.loginName, alias != Collection.sessionName else {
      throw BusError.notSupported("the alias \(alias) stays")
    }
    guard try isOpen(store) else { throw BusError.isLocked }
    var target: String?
    if path != ObjectPath.none {
      guard case .collection(let name)? = ObjectPath(path) else { throw BusError.noSuchObject }
      target = try collection(name, store).name
    }
    try store.keychain.setAlias(alias, to: target)
    state.forgetCatalog()
  }

  /// Leaves out what is locked, refused or gone.
  private func secret(at path: String, _ session: Session, _ sessionPath: String, _ store: ItemStore) throws -> Value? {
    guard case .item(let name, let id)? = ObjectPath(path) else { return nil }
    do {
      let collection = try collection(name, store)
      guard !state.locked.contains(collection.name) else { return nil }
      let known = state.reference(at: ObjectPath.item(collection.name, id))
      let read = try store.read(collection.name, id, known)
      return .entry(.path(path), try session.wrap(read.secret, contentType: read.contentType, path: sessionPath))
    } catch  where BusError(error) == .noSuchObject || BusError(error) == .isLocked {
      return nil
    } catch let error as KeychainError where error.code.isLeftOut {
      return nil
    }
  }

  // MARK: Collection

  func collection(_ name: ObjectPath.CollectionName, _ invocation: Invocation, _ store: ItemStore) throws -> [Value] {
    let collection = try collection(name, store)
    let arguments = invocation.arguments
    switch invocation.method.name {
    case "SearchItems":
      let found = try sealed(store) { try store.items(with: arguments[0].texts, in: collection.name) }
      state.handOut(found)
      return [.paths(found.map(\.path))]
    case "CreateItem":
      guard case .flag(let replaces) = arguments[2] else { throw BusError.invalidArguments("replace") }
      try checkNotLocked(collection)
      let sent = try unwrapped(arguments[1], invocation.sender)
      let content = try ItemStore.Content(arguments[0].dictionary)
      let key = ItemLocks.Key(collection: collection.name, attributes: content.attributes ?? [:])
      let (reference, path) = try itemLocks.withLock(key) {
        try store.create(content, sent.secret, contentType: sent.contentType, in: collection.name, replaces: replaces)
      }
      let isKnown = state.path(of: reference) != nil
      state.handOut(reference, path)
      try checkIsLeft(collection, path, store)
      // The agent tells of the others.
      if collection.name == Collection.sessionName { kept(path, isKnown: isKnown, store) }
      return [.path(path), .path(ObjectPath.none)]
    case "Delete":
      try checkUnlocked(collection, store)
      guard !collection.isFixed else { throw BusError.notSupported("the collection \(collection.name) stays") }
      let aliases = try catalog(store).aliases.filter { $0.value == collection.name }.map(\.key)
      defer { state.forgetCatalog() }
      try store.removeCollection(collection.name, aliases: aliases, forget: state.forgetCatalog)
      return [.path(ObjectPath.none)]
    default: throw BusError.unknownMethod(invocation.method.name)
    }
  }

  /// Tells of an item of the collection `session`: one that clients know has been replaced.
  private func kept(_ path: String, isKnown: Bool, _ store: ItemStore) {
    guard isKnown else { return created(path, in: Collection.sessionName) }
    // One that is gone by now was told of as deleted.
    if case .item(_, let id)? = ObjectPath(path), let item = try? store.temporary.item(id) { changed(item) }
  }

  /// An item that was added to a collection while that was removed goes with it.
  private func checkIsLeft(_ collection: Collection, _ path: String, _ store: ItemStore) throws {
    guard try !catalog(store).collections.contains(where: { $0.name == collection.name }) else { return }
    if case .item(_, let id)? = ObjectPath(path) { try store.remove(store.item(collection.name, id)) }
    throw BusError.noSuchObject
  }

  /// All that have these attributes. An item in a group without a collection is left out, because its path leads to no object.
  private func items(with attributes: [String: String], _ store: ItemStore) throws -> [StoredItem] {
    let found = try store.items(with: attributes, in: nil)
    guard !found.isEmpty else { return [] }
    let names = Set(try catalog(store).collections.map(\.name))
    return found.filter { names.contains($0.collection) }
  }

  private struct Sent: ~Copyable {
    let secret: Secret
    let contentType: String
  }

  private func unwrapped(_ value: Value, _ sender: String) throws -> Sent {
    guard case .structure(let parts) = value, parts.count == 4, case .path(let path) = parts[0],
      case .bytes(let parameters) = parts[1], case .bytes(let bytes) = parts[2], case .text(let type) = parts[3]
    else { throw BusError.invalidArguments("the secret") }
    return Sent(secret: try state.session(path, of: sender).unwrap(parameters, bytes), contentType: type)
  }

  // MARK: Item

  func item(_ name: ObjectPath.CollectionName, _ id: String, _ invocation: Invocation, _ store: ItemStore) throws -> [Value] {
    let collection = try collection(name, store)
    try checkNotLocked(collection)
    let item = try store.item(collection.name, id)
    switch (invocation.method.name, invocation.arguments.first) {
    case ("GetSecret", .path(let path)?):
      let session = try state.session(path, of: invocation.sender)
      return [try session.wrap(try store.secret(of: item), contentType: item.contentType, path: path)]
    case ("SetSecret", let value?):
      let sent = try unwrapped(value, invocation.sender)
      try store.set(sent.secret, contentType: sent.contentType, of: item)
      if item.isTemporary { changed(item) }
      return []
    case ("Delete", _):
      try store.remove(item)
      if item.isTemporary { removed(item.entry.reference) }
      return [.path(ObjectPath.none)]
    default: throw BusError.invalidArguments(invocation.method.name)
    }
  }
}

extension KeychainError.Code {
  /// Whether one of several items is left out of an answer.
  fileprivate var isLeftOut: Bool { isRefusal || self == .otherDevice }
}

extension ItemStore.Content {
  /// - Throws: `BusError`: `invalidArguments`.
  init(_ properties: [String: Value]) throws {
    self.init()
    func value(_ name: String) -> Value? { properties["\(Interface.item.name).\(name)"] }
    switch value("Label") {
    case nil: label = nil
    case .text(let text)?: label = text
    default: throw BusError.invalidArguments("the label")
    }
    switch value("Attributes") {
    case nil: attributes = [:]
    case .array("{ss}", _)?: attributes = value("Attributes")?.texts
    default: throw BusError.invalidArguments("the attributes")
    }
  }
}

extension Catalog {
  /// The collection of the object at a path.
  func collection(at path: String) -> Collection? {
    switch ObjectPath(path) {
    case .collection(let name)?, .item(let name, _)?: collection(name)
    case .service?, .session?, .prompt?, .portal?, .portalRequest?, nil: nil
    }
  }
}

extension Value {
  var texts: [String: String] {
    guard case .array(_, let entries) = self else { return [:] }
    var texts: [String: String] = [:]
    for case .entry(.text(let key), .text(let value)) in entries { texts[key] = value }
    return texts
  }

  var dictionary: [String: Value] {
    guard case .array(_, let entries) = self else { return [:] }
    var values: [String: Value] = [:]
    for case .entry(.text(let key), .variant(let value)) in entries { values[key] = value }
    return values
  }

  var pathTexts: [String] {
    guard case .array(_, let values) = self else { return [] }
    return values.compactMap { if case .path(let path) = $0 { path } else { nil } }
  }
}
