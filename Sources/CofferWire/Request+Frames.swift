internal import AccessRights
package import CofferRequests
package import SecretMemory
internal import VaultCore

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
    case .remove(let reference, let generation, let mustKeep):
      fields.set(reference)
      fields["generation"] = generation.map { .integer($0) }
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
