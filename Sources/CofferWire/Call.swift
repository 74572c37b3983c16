package import VaultCore

/// What a client asks the agent for.
package enum Call: ~Copyable, Sendable {
  case status
  /// What the vault's file says without a key: so the client has the slots to derive a key for.
  case inspect
  /// - Credential: Derived for one of these slots.
  /// - display: Where the owner is, who may be asked there later: the texts of `displayNames`.
  case unlock(Credential, display: Attributes = Attributes())
  case lock
  case end
  case entitlements
  case items(ItemClass?, AccessGroup?, Attributes)
  case contains(AccessGroup)
  case entry(Reference)
  /// - purpose: What the owner reads, where the owner is asked.
  case secret(Reference, purpose: String)
  case add(Item, Secret, AccessGroup?, Accessibility, installBound: Bool)
  /// The item as it is to be, where it still is of this generation. Without a secret that stays.
  case update(Reference, generation: UInt64, Item, Secret?)
  /// Likewise, and into a group.
  case move(Reference, generation: UInt64, Item, AccessGroup)
  case remove(Reference)
  /// An item that cannot be read is removed by its primary attributes.
  case discard(Item, AccessGroup)
  case watch
  case vault(VaultCall)
  case apps(AppCall)

  private static let displayNames = ["display", "wayland", "terminal", "terminal-type", "lc-ctype"]

  // MARK: Out

  /// - Throws: `WireError`: `frameLength`; `VaultError` of locked memory.
  package consuming func frame(request: UInt64) throws -> Secret {
    var fields = Attributes()
    switch consume self {
    case .status: return try Message().frame(.status, request: request)
    case .lock: return try Message().frame(.lock, request: request)
    case .end: return try Message().frame(.end, request: request)
    case .watch: return try Message().frame(.watch, request: request)
    case .entitlements: return try Message().frame(.entitlements, request: request)
    case .inspect: return try Message().frame(.inspect, request: request)
    case .unlock(let credential, let display):
      fields = display
      fields.set(credential, "by")
      return try Message(fields: fields, secret: credential.text.duplicate()).frame(.unlock, request: request)
    case .items(let itemClass, let group, let attributes):
      fields["class"] = itemClass.map { .integer(UInt64($0.rawValue)) }
      fields["group"] = group.map { .text($0.name) }
      return try Message(fields: fields, parts: [TLV.encode(attributes)]).frame(.items, request: request)
    case .entry(let reference):
      fields.set(reference)
      return try Message(fields: fields).frame(.entry, request: request)
    case .secret(let reference, let purpose):
      fields.set(reference)
      fields["purpose"] = .text(purpose)
      return try Message(fields: fields).frame(.secret, request: request)
    case .add(let item, let secret, let group, let accessibility, let installBound):
      fields["group"] = group.map { .text($0.name) }
      fields["accessible"] = .integer(UInt64(accessibility.rawValue))
      fields["install-bound"] = .integer(installBound ? 1 : 0)
      return try Message(fields: fields, parts: [item.encoded], secret: secret).frame(.add, request: request)
    case .update(let reference, let generation, let item, let secret):
      fields.set(reference)
      fields["generation"] = .integer(generation)
      // An empty secret is a secret.
      fields["has-secret"] = .integer(secret == nil ? 0 : 1)
      return try Message(fields: fields, parts: [item.encoded], secret: secret).frame(.update, request: request)
    case .move(let reference, let generation, let item, let group):
      fields.set(reference)
      fields["generation"] = .integer(generation)
      fields["to-group"] = .text(group.name)
      return try Message(fields: fields, parts: [item.encoded]).frame(.move, request: request)
    case .remove(let reference):
      fields.set(reference)
      return try Message(fields: fields).frame(.remove, request: request)
    case .contains(let group):
      fields["group"] = .text(group.name)
      return try Message(fields: fields).frame(.contains, request: request)
    case .discard(let item, let group):
      fields["group"] = .text(group.name)
      return try Message(fields: fields, parts: [item.encoded]).frame(.discard, request: request)
    case .vault(let call): return try call.frame(request: request)
    case .apps(let call): return try call.message.frame(call.operation, request: request)
    }
  }

  // MARK: In

  /// - Throws: `WireError`: `operation` for what is no request, `field`, `malformed`; `VaultError` of locked memory.
  package static func parse(_ operation: Operation, _ message: consuming Message) throws -> Call {
    var fields = Fields(message.fields)
    let parts = message.parts
    guard parts.count == (hasPart(operation) ? 1 : 0) else { throw WireError(.malformed, "\(parts.count) parts") }
    let call = try parse(operation, &fields, parts.first ?? [], &message.secret)
    try fields.end()
    guard message.secret == nil else { throw WireError(.malformed, "a secret that is not meant") }
    return call
  }

  private static func hasPart(_ operation: Operation) -> Bool {
    [.items, .add, .update, .move, .discard, .install].contains(operation)
  }

  private static func parse(
    _ operation: Operation, _ fields: inout Fields, _ part: [UInt8], _ secret: inout Secret?
  ) throws -> Call {
    switch operation {
    case .status: return .status
    case .lock: return .lock
    case .end: return .end
    case .watch: return .watch
    case .entitlements: return .entitlements
    case .inspect: return .inspect
    case .unlock:
      var rest = Remainder(try secret.take() ?? Secret(count: 0))
      let credential = try fields.credential("by", from: &rest)
      try rest.end()
      var display = Attributes()
      for name in displayNames { display[name] = try fields.text(name).map { .text($0) } }
      return .unlock(credential, display: display)
    case .items:
      let (itemClass, group) = (try fields.value("class", ItemClass.self), try fields.group("group"))
      return .items(itemClass, group, try attributes(part))
    case .entry: return .entry(try fields.reference())
    case .secret:
      return .secret(try fields.reference(), purpose: try Fields.required("purpose", try fields.text("purpose")))
    case .add:
      let group = try fields.group("group")
      let accessibility = try Fields.required("accessible", try fields.value("accessible", Accessibility.self))
      let installBound = try fields.flag("install-bound")
      return .add(
        try item(part), try secret.take() ?? Secret(count: 0), group, accessibility, installBound: installBound)
    case .update:
      let reference = try fields.reference()
      let generation = try Fields.required("generation", try fields.integer("generation"))
      guard try fields.flag("has-secret") else { return .update(reference, generation: generation, try item(part), nil) }
      return .update(reference, generation: generation, try item(part), try secret.take() ?? Secret(count: 0))
    case .move:
      let reference = try fields.reference()
      let generation = try Fields.required("generation", try fields.integer("generation"))
      return .move(
        reference, generation: generation, try item(part), try Fields.required("to-group", try fields.group("to-group")))
    case .remove: return .remove(try fields.reference())
    case .contains: return .contains(try Fields.required("group", try fields.group("group")))
    case .discard: return .discard(try item(part), try Fields.required("group", try fields.group("group")))
    case .create, .addSlot, .replaceSlot, .removeSlot:
      return .vault(try VaultCall.parse(operation, &fields, try secret.take() ?? Secret(count: 0)))
    case .pins, .install, .uninstall, .itemCount, .forget, .grants, .grant, .revoke, .leases, .endLease, .log, .logPart:
      return .apps(try AppCall.parse(operation, &fields, part))
    case .introduce: throw WireError(.operation, "no challenge was sent")
    case .done, .part, .failed, .notices, .challenge: throw WireError(.operation, "\(operation) is no request")
    }
  }

  private static func attributes(_ bytes: [UInt8]) throws(WireError) -> Attributes {
    do { return try TLV.decode(bytes) } catch { throw WireError(.malformed, "attributes") }
  }

  private static func item(_ bytes: [UInt8]) throws(WireError) -> Item {
    do { return try Item(decoding: bytes) } catch { throw WireError(.malformed, "an item") }
  }
}

extension Secret {
  borrowing func joined(to other: borrowing Secret) throws -> Secret {
    var both = try Secret(count: count + other.count)
    withBytes { both.write($0, at: 0) }
    other.withBytes { both.write($0, at: count) }
    return both
  }

  borrowing func part(_ range: Range<Int>) throws -> Secret {
    try withBytes { try Secret(copying: $0.extracting(range)) }
  }
}
