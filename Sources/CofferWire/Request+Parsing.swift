internal import AccessRights
package import CofferRequests
internal import VaultCore

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
      let (reference, generation) = (try content.fields.reference(), try content.fields.integer("generation"))
      return .items(.remove(reference, generation: generation, mustKeep: try content.fields.flag("must-keep")))
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
