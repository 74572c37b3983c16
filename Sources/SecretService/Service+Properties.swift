import Coffer
import CofferRequests
import MessageBus

extension Service {
  func properties(_ invocation: Invocation, _ store: ItemStore) throws -> [Value] {
    if invocation.path == .service, invocation.method.name == "Get",
      case .text(Interface.agent.name) = invocation.arguments[0], case .text(Interface.agentPath) = invocation.arguments[1]
    {
      return [.variant(.text(try Keychain.agentPath()))]
    }
    let own = Interface.own(of: invocation.path)
    guard case .text(let interface)? = invocation.arguments.first, interface.isEmpty || interface == own.name else {
      if invocation.method.name == "GetAll" { return [.properties([])] }
      throw BusError.unknownProperty("the interface has no properties")
    }
    if invocation.method.name == "GetAll" {
      return [.properties(try own.properties.map { ($0.name, try property($0.name, invocation, store)) })]
    }
    guard case .text(let name) = invocation.arguments[1], let property = own.properties.first(where: { $0.name == name }) else {
      throw BusError.unknownProperty("the object has no such property")
    }
    guard invocation.method.name == "Set" else { return [.variant(try self.property(name, invocation, store))] }
    guard property.isWritable else { throw BusError.readOnly(name) }
    guard case .variant(let value) = invocation.arguments[2], value.signature == property.type else {
      throw BusError.invalidArguments(name)
    }
    try set(name, value, invocation.path, store)
    return []
  }

  private func property(_ name: String, _ invocation: Invocation, _ store: ItemStore) throws -> Value {
    switch invocation.path {
    case .service: return .paths(try catalog(store).collections.map { ObjectPath.collection($0.name) })
    case .collection(let path):
      let collection = try collection(path, store)
      switch name {
      case "Label": return .text(collection.label)
      case "Locked": return .flag(try isLocked(collection, store))
      case "Created": return .number(collection.created)
      case "Modified": return .number(collection.modified)
      default:
        // Names of items are attributes, which are sealed. But the other properties come without the owner.
        if invocation.method.name == "GetAll", try collection.name != Collection.sessionName && !isOpen(store) {
          return .paths([])
        }
        let items = try sealed(store) { try store.items(with: [:], in: collection.name) }
        state.handOut(items)
        return .paths(items.map(\.path))
      }
    case .item(let path, let id):
      let collection = try collection(path, store)
      let item = try sealed(store) { try store.item(collection.name, id) }
      switch name {
      case "Label": return .text(item.label)
      case "Locked": return .flag(state.locked.contains(collection.name))
      case "Attributes": return .texts(item.attributes)
      case "Created": return .number(item.created)
      default: return .number(item.modified)
      }
    case .portal: return .word(1)
    case .session, .prompt, .portalRequest: throw BusError.unknownProperty(name)
    }
  }

  private func set(_ name: String, _ value: Value, _ path: ObjectPath, _ store: ItemStore) throws {
    switch (path, name, value) {
    case (.collection(let path), "Label", .text(let label)):
      let collection = try collection(path, store)
      try checkUnlocked(collection, store)
      guard collection.name != Collection.sessionName else { throw BusError.readOnly(name) }
      try store.keychain.relabelCollection(collection.name, as: label)
      state.forgetCatalog()
    case (.item(let path, let id), _, _):
      let collection = try collection(path, store)
      try checkUnlocked(collection, store)
      var content = ItemStore.Content()
      if case .text(let label) = value { content.label = label } else { content.attributes = value.texts }
      try store.change(store.item(collection.name, id), to: content)
      if collection.name == Collection.sessionName { changed(try store.item(collection.name, id)) }
    default: throw BusError.readOnly(name)
    }
  }
}
