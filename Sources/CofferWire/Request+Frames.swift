internal import AccessRights
package import CofferRequests
package import SecretMemory
internal import VaultCore

// MARK: Out

extension Request {
  /// - Parameter client: The program that the request is for, if it is not the sender.
  /// - Throws: `WireError`: `frameLength`; `VaultError`: `attributeNotAllowed`, `nameTooLong`, and of locked memory.
  package consuming func frame(request number: UInt64, for client: BusClient? = nil) throws -> Secret {
    let kind = kind
    var message =
      switch consume self {
      case .session(let request): try request.message()
      case .items(let request): try request.message()
      case .vault(let request): try request.message()
      case .apps(let request): request.message()
      case .groups(let request): request.message()
      case .upkeep(let request): try request.message()
      }
    if let client { message.set(client) }
    return try message.frame(.request(kind), request: number)
  }
}

extension SessionRequest {
  fileprivate consuming func message() throws -> Message {
    switch consume self {
    case .unlock(let credential, let display):
      var fields = display
      fields.set(credential, "by")
      return try Message(fields: fields, secret: credential.text.duplicate())
    case .status: return Message()
    case .inspect: return Message()
    case .lock: return Message()
    case .end: return Message()
    case .watch: return Message()
    }
  }
}

extension ItemRequest {
  /// - Throws: `VaultError`: `attributeNotAllowed`, `nameTooLong`.
  fileprivate consuming func message() throws(VaultError) -> Message {
    var fields = Attributes()
    switch consume self {
    case .entitlements: return Message()
    case .items(let itemClass, let group, let attributes):
      fields["class"] = itemClass.map { .integer(UInt64($0.rawValue)) }
      fields["group"] = group.map { .text($0.name) }
      return Message(fields: fields, parts: [try attributes.sent()])
    case .contains(let group):
      fields["group"] = .text(group.name)
      return Message(fields: fields)
    case .entry(let reference):
      fields.set(reference)
      return Message(fields: fields)
    case .secret(let reference, let purpose):
      fields.set(reference)
      fields["purpose"] = try .purpose(purpose)
      return Message(fields: fields)
    case .add(let item, let secret, let group, let accessibility, let installBound):
      fields["group"] = group.map { .text($0.name) }
      fields["accessible"] = .integer(UInt64(accessibility.rawValue))
      fields["install-bound"] = .integer(installBound ? 1 : 0)
      return Message(fields: fields, parts: [try item.sent()], secret: secret)
    case .addAll(let new, let group, let accessibility):
      fields["group"] = group.map { .text($0.name) }
      fields["accessible"] = .integer(UInt64(accessibility.rawValue))
      var counts: [UInt8] = []
      for count in new.byteCounts { counts.append(littleEndian: UInt32(count)) }
      fields["byte-counts"] = .data(counts)
      var parts: [[UInt8]] = []
      for item in new.items { parts.append(try item.sent()) }
      return Message(fields: fields, parts: parts, secret: try new.secrets.duplicate())
    case .update(let reference, let generation, let item, let secret, let accessibility):
      fields.set(reference)
      fields["generation"] = .integer(generation)
      fields["accessible"] = accessibility.map { .integer(UInt64($0.rawValue)) }
      // An empty secret is a secret.
      fields["has-secret"] = .integer(secret == nil ? 0 : 1)
      return Message(fields: fields, parts: [try item.sent()], secret: secret)
    case .move(let reference, let generation, let item, let group):
      fields.set(reference)
      fields["generation"] = .integer(generation)
      fields["to-group"] = .text(group.name)
      return Message(fields: fields, parts: [try item.sent()])
    case .remove(let reference, let mustKeep):
      fields.set(reference)
      fields["must-keep"] = .integer(mustKeep ? 1 : 0)
      return Message(fields: fields)
    case .discard(let item, let group, let mustKeep):
      fields["group"] = .text(group.name)
      fields["must-keep"] = .integer(mustKeep ? 1 : 0)
      return Message(fields: fields, parts: [try item.sent()])
    case .history(let reference):
      fields.set(reference)
    case .removed(let itemClass, let group, let attributes):
      fields["class"] = itemClass.map { .integer(UInt64($0.rawValue)) }
      fields["group"] = group.map { .text($0.name) }
      return Message(fields: fields, parts: [try attributes.sent()])
    case .version(let reference, let number, let purpose):
      fields.set(reference)
      fields["version"] = .integer(number)
      fields["purpose"] = try .purpose(purpose)
    case .restore(let reference, let number):
      fields.set(reference)
      fields["version"] = number.map { .integer($0) }
    case .purge(let reference, let scope):
      fields.set(reference)
      if case .version(let number) = scope { fields["version"] = .integer(number) }
      fields["with-item"] = .integer(scope == .item ? 1 : 0)
    case .purgeExpired(let group, let removed):
      fields["group"] = group.map { .text($0.name) }
      fields["removed"] = .integer(removed ? 1 : 0)
    }
    return Message(fields: fields)
  }
}

extension VaultRequest {
  fileprivate consuming func message() throws -> Message {
    var fields = Attributes()
    switch consume self {
    case .create(let credential, let kdf, let recovery):
      fields.set(credential, "new")
      fields.set(kdf)
      guard let recovery else { return try Message(fields: fields, secret: credential.text.duplicate()) }
      fields.set(recovery, "recovery")
      return try Message(fields: fields, secret: credential.text.joined(to: recovery.text))
    case .addSlot(let credential, let kdf, let proof):
      fields.set(proof, "by")
      fields.set(credential, "new")
      fields.set(kdf)
      return try Message(fields: fields, secret: proof.text.joined(to: credential.text))
    case .replaceSlot(let id, let credential, let kdf, let proof):
      fields["slot"] = .data(id.bytes)
      fields.set(proof, "by")
      fields.set(credential, "new")
      fields.set(kdf)
      return try Message(fields: fields, secret: proof.text.joined(to: credential.text))
    case .removeSlot(let id, let proof):
      fields["slot"] = .data(id.bytes)
      fields.set(proof, "by")
      return try Message(fields: fields, secret: proof.text.duplicate())
    }
  }
}

extension AppRequest {
  fileprivate func message() -> Message {
    var fields = Attributes()
    switch self {
    case .pins, .leases, .log: break
    case .logPart(let ring, let first, let offset):
      fields["ring"] = .text(ring)
      fields["first"] = .integer(first)
      fields["offset"] = .integer(offset)
    case .endLease(let number): fields["lease"] = .integer(number)
    case .install(let manifest): return Message(parts: [manifest])
    case .uninstall(let application), .itemCount(let application), .forget(let application):
      fields["application"] = .text(application)
    case .grants(let application): fields["application"] = application.map { .text($0) }
    case .grant(let application, let group, let rights, let asksForConfirmation):
      fields["application"] = .text(application)
      fields["group"] = .text(group.name)
      fields["rights"] = .integer(UInt64(rights.rawValue))
      fields["confirm"] = .integer(asksForConfirmation ? 1 : 0)
    case .revoke(let application, let group):
      fields["application"] = .text(application)
      fields["group"] = .text(group.name)
    }
    return Message(fields: fields)
  }
}

// MARK: In

extension Request {
  private static let displayNames = ["display", "wayland", "terminal", "terminal-type", "lc-ctype"]

  /// - Throws: `WireError`: `field`, `malformed`; `VaultError`: `kdfBelowFloor`, and of locked memory.
  package static func parse(_ kind: Kind, _ message: consuming Message) throws -> Request {
    guard message.parts.count <= (kind == .addAll ? NewItems.maximumCount : 1) else {
      throw WireError(.malformed, "\(message.parts.count) parts")
    }
    var content = RequestFields(fields: Fields(message.fields), parts: message.parts, secret: message.secret.take())
    let request = try parse(kind, &content)
    try content.end()
    return request
  }

  private static func parse(_ kind: Kind, _ content: inout RequestFields) throws -> Request {
    switch kind {
    case .status: return .session(.status)
    case .lock: return .session(.lock)
    case .end: return .session(.end)
    case .watch: return .session(.watch)
    case .inspect: return .session(.inspect)
    case .unlock:
      var keys = try content.keys()
      let credential = try content.fields.credential("by", from: &keys)
      try keys.end()
      var display = Attributes()
      for name in displayNames { display[name] = try content.fields.text(name).map { .text($0) } }
      return .session(.unlock(credential, display: display))

    case .entitlements: return .items(.entitlements)
    case .items:
      let (itemClass, group) = (try content.fields.value("class", ItemClass.self), try content.fields.group("group"))
      return .items(.items(itemClass, group, try content.attributes()))
    case .contains: return .items(.contains(try content.fields.requiredGroup("group")))
    case .entry: return .items(.entry(try content.fields.reference()))
    case .secret: return .items(.secret(try content.fields.reference(), purpose: try content.fields.requiredText("purpose")))
    case .add:
      let group = try content.fields.group("group")
      let accessibility = try Fields.required("accessible", try content.fields.value("accessible", Accessibility.self))
      let installBound = try content.fields.flag("install-bound")
      return .items(.add(try content.item(), try content.takeSecret(), group, accessibility, installBound: installBound))
    case .addAll:
      let group = try content.fields.group("group")
      let accessibility = try Fields.required("accessible", try content.fields.value("accessible", Accessibility.self))
      let counts = try content.fields.byteCounts()
      guard let new = NewItems(try content.items(), counts, secrets: try content.takeSecret()) else {
        throw WireError(.field, "byte-counts")
      }
      return .items(.addAll(new, group, accessibility))
    case .update:
      let reference = try content.fields.reference()
      let generation = try content.fields.requiredInteger("generation")
      let accessibility = try content.fields.value("accessible", Accessibility.self)
      let secret = try content.fields.flag("has-secret") ? try content.takeSecret() : nil
      return .items(.update(reference, generation: generation, try content.item(), secret, accessibility))
    case .move:
      let reference = try content.fields.reference()
      let generation = try content.fields.requiredInteger("generation")
      let item = try content.item()
      return .items(.move(reference, generation: generation, item, try content.fields.requiredGroup("to-group")))
    case .remove:
      return .items(.remove(try content.fields.reference(), mustKeep: try content.fields.flag("must-keep")))
    case .discard:
      let (group, mustKeep) = (try content.fields.requiredGroup("group"), try content.fields.flag("must-keep"))
      return .items(.discard(try content.item(), group, mustKeep: mustKeep))

    case .history: return .items(.history(try content.fields.reference()))
    case .removed:
      let (itemClass, group) = (try content.fields.value("class", ItemClass.self), try content.fields.group("group"))
      return .items(.removed(itemClass, group, try content.attributes()))
    case .version:
      let (reference, number) = (try content.fields.reference(), try content.fields.requiredInteger("version"))
      return .items(.version(reference, number, purpose: try content.fields.requiredText("purpose")))
    case .restore: return .items(.restore(try content.fields.reference(), try content.fields.integer("version")))
    case .purge:
      let (reference, number) = (try content.fields.reference(), try content.fields.integer("version"))
      let isWithItem = try content.fields.flag("with-item")
      guard number == nil || !isWithItem else { throw WireError(.field, "with-item") }
      return .items(.purge(reference, isWithItem ? .item : number.map { .version($0) } ?? .former))
    case .purgeExpired:
      return .items(.purgeExpired(try content.fields.group("group"), removed: try content.fields.flag("removed")))

    case .create:
      var keys = try content.keys()
      let credential = try content.fields.credential("new", from: &keys)
      guard keys.count > 0 else { return .vault(.create(credential, try content.fields.kdf(), recovery: nil)) }
      let recovery = try content.fields.credential("recovery", from: &keys)
      try keys.end()
      return .vault(.create(credential, try content.fields.kdf(), recovery: recovery))
    case .addSlot:
      var keys = try content.keys()
      let proof = try content.fields.credential("by", from: &keys)
      let credential = try content.fields.credential("new", from: &keys)
      try keys.end()
      return .vault(.addSlot(credential, try content.fields.kdf(), by: proof))
    case .replaceSlot:
      var keys = try content.keys()
      let proof = try content.fields.credential("by", from: &keys)
      let credential = try content.fields.credential("new", from: &keys)
      try keys.end()
      return .vault(.replaceSlot(try content.fields.slot(), credential, try content.fields.kdf(), by: proof))
    case .removeSlot:
      var keys = try content.keys()
      let proof = try content.fields.credential("by", from: &keys)
      try keys.end()
      return .vault(.removeSlot(try content.fields.slot(), by: proof))

    case .pins: return .apps(.pins)
    case .install: return .apps(.install(try content.part()))
    case .uninstall: return .apps(.uninstall(try content.fields.requiredText("application")))
    case .itemCount: return .apps(.itemCount(try content.fields.requiredText("application")))
    case .forget: return .apps(.forget(try content.fields.requiredText("application")))
    case .grants: return .apps(.grants(try content.fields.text("application")))
    case .grant:
      return .apps(
        .grant(
          try content.fields.requiredText("application"), try content.fields.requiredGroup("group"),
          try content.fields.rights("rights"), asksForConfirmation: try content.fields.flag("confirm")))
    case .revoke:
      return .apps(.revoke(try content.fields.requiredText("application"), try content.fields.requiredGroup("group")))
    case .leases: return .apps(.leases)
    case .endLease: return .apps(.endLease(try content.fields.requiredInteger("lease")))
    case .log: return .apps(.log)
    case .logPart:
      return .apps(
        .logPart(
          ring: try content.fields.requiredText("ring"), first: try content.fields.requiredInteger("first"),
          offset: try content.fields.requiredInteger("offset")))

    case .groups, .createGroup, .renameGroup, .removeGroup: return .groups(try .parse(kind, &content.fields))
    case .policy, .setPolicy, .verify, .backup, .acceptRollback, .restoreVault, .repair, .rotate:
      return .upkeep(try .parse(kind, &content))
    }
  }
}
