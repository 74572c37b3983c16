import SecretMemory
import VaultCore

/// An entry that was proven, and has not changed anything yet.
struct ProvenEntry {
  let author: Identifier
  let body: Body
  /// After a removal: the key of the next epoch; nil if it removes this device.
  var nextKey: LockedBytes?
  /// The stores that the contents of settings name, by operation.
  var stores: [Int: String] = [:]
}

/// Returns the bytes of an object, or nil if there is none of the name.
package typealias ObjectSource = (ObjectName) throws -> [UInt8]?

extension Replica {
  /// Proves an entry in the order of section 3.1 of docs/sync-format.md. Changes nothing.
  /// - Throws: `VoidCause`; `Halt`; the errors of the machine, which are neither.
  func prove(_ entry: [UInt8], isAccepted: Bool = false) throws -> ProvenEntry {
    let sealed = try SealedEntry(parsing: entry)
    guard sealed.space == position.space else { throw VoidCause.space }
    guard sealed.number == position.number else { throw VoidCause.number }
    guard sealed.chain == position.chain else {
      if try !isAccepted && !strays.contains(ObjectName(of: entry)) && author(of: sealed) != nil { throw Halt.forked }
      throw VoidCause.chain
    }
    guard sealed.epoch == position.epoch else { throw VoidCause.epoch }
    if position.number == 0 { return try proveGenesis(sealed) }
    guard let key = keys[position.epoch] else { throw Halt.keyMissing }
    let opened = try sealed.open(key)
    guard let author = membership[opened.author] else { throw VoidCause.author }
    guard try opened.isSigned(by: author.signingKey) else { throw VoidCause.signature }
    let body = try opened.body(values)
    if case .genesis = body.payload { throw VoidCause.form }
    try checkClear(sealed.clear, of: body.payload)
    try membership.check(body, by: author)
    var proven = ProvenEntry(author: author.id, body: body)
    switch body.payload {
    case .add(let record): try checkKey(sealed.clear, of: record)
    case .remove(let removed, _): proven.nextKey = try nextKey(sealed.clear, without: removed)
    case .operations(let operations): proven.stores = try stores(of: operations)
    case .checkpoint(let checkpoint):
      guard try checkpoint.state == state.digest(values), checkpoint.lastEntries == lastEntries else {
        if isAccepted { throw VoidCause.tag }
        throw Halt.checkpointFalse
      }
    case .genesis, .role, .presence, .rejoin: break
    }
    return proven
  }

  /// The first entry holds the key that proves it, and the identifier of the space is that of its founder.
  private func proveGenesis(_ sealed: SealedEntry) throws -> ProvenEntry {
    guard let key = try genesisKey(sealed) else { throw Halt.keyMissing }
    let opened = try sealed.open(key)
    let body = try opened.body(values)
    guard case .genesis(let random, let record) = body.payload else { throw VoidCause.form }
    guard record.id == opened.author else { throw VoidCause.author }
    guard try opened.isSigned(by: record.signingKey) else { throw VoidCause.signature }
    guard record.space(random: random) == position.space, record.role == .owner, !record.isRecovery else { throw VoidCause.form }
    guard SealedKeys.areFor([record], sealed.clear[...]) else { throw VoidCause.clear }
    guard body.link == .zero else { throw VoidCause.link }
    return ProvenEntry(author: record.id, body: body, nextKey: key)
  }

  /// The founder has sealed the first key for itself.
  private func genesisKey(_ sealed: SealedEntry) throws -> LockedBytes? {
    if let hint = hints[0] { return hint }
    guard sealed.clear.count == SealedKeys.byteCount else { return nil }
    return try SealedKeys.open(0, sealed.clear[...], identity)
  }

  /// The member that has made an entry. With another C it shows that the member continues another history. Section 3.2 of
  /// docs/sync-format.md.
  /// - Returns: nil if no member has made it.
  package func author(of bytes: [UInt8]) throws -> DeviceRecord? {
    do {
      return try author(of: SealedEntry(parsing: bytes))
    } catch is VoidCause {
      return nil
    }
  }

  func author(of sealed: SealedEntry) throws -> DeviceRecord? {
    guard sealed.epoch <= position.epoch, let key = keys[sealed.epoch] else { return nil }
    do {
      let opened = try sealed.open(key)
      guard let author = membership[opened.author], try opened.isSigned(by: author.signingKey) else { return nil }
      return author
    } catch is VoidCause {
      return nil
    }
  }

  private func checkClear(_ clear: [UInt8], of payload: Payload) throws(VoidCause) {
    switch payload {
    case .genesis(_, let record), .add(let record): guard SealedKeys.areFor([record], clear[...]) else { throw .clear }
    case .remove(let removed, _):
      guard clear.count >= SealedKeys.backByteCount,
        SealedKeys.areNext(for: membership.staying(without: removed), clear[SealedKeys.backByteCount...])
      else { throw .clear }
    case .role, .operations, .checkpoint, .presence, .rejoin: guard clear.isEmpty else { throw .clear }
    }
  }

  /// A device that is added checks that it got the key.
  private func checkKey(_ clear: [UInt8], of record: DeviceRecord) throws {
    guard record.id == id, let key = keys[position.epoch] else { return }
    guard let sealed = try SealedKeys.open(0, clear[...], identity), sealed.isEqual(to: key) else { throw Halt.keyWithheld }
  }

  /// The key of the epoch that a removal begins: it leads back to the present one, and each device that stays gets it. All devices find
  /// the same, or a member could part them.
  /// - Returns: nil for the device that is removed.
  /// - Throws: `key`.
  private func nextKey(_ clear: [UInt8], without removed: [Identifier]) throws -> LockedBytes? {
    if removed.contains(id) { return nil }
    let staying = membership.staying(without: removed)
    let sealed = clear[SealedKeys.backByteCount...]
    let own = try staying.firstIndex { $0.id == id }.flatMap { try SealedKeys.openNext($0, sealed, identity) }
    guard let key = own ?? hints[position.epoch + 1], let present = keys[position.epoch],
      try SealedKeys.openBack(Array(clear.prefix(SealedKeys.backByteCount)), under: key, position.space)?.isEqual(to: present)
        == true, try SealedKeys.all(staying, get: key, from: sealed, position.space)
    else { throw VoidCause.key }
    return key
  }

  var sealer: ObjectSealer { ObjectSealer(space: position.space, keys: keys) }

  /// The value of an object, as an operation or a row names it.
  /// - Throws: `objectMissing`; `tag` for an object that does not open or has another length.
  func resolve(_ name: ObjectName, count: Int, _ objects: ObjectSource) throws -> LockedBytes {
    guard let object = try objects(name), ObjectName(of: object) == name else { throw Halt.objectMissing(name) }
    guard let content = try sealer.open(object), content.count == count else { throw VoidCause.tag }
    return content
  }

  /// Checks that each content is that of its tag. One of an item that lies in an object is checked when it is shown: a member that
  /// names an object which is not there would stop all devices.
  /// - Returns: The stores of settings.
  private func stores(of operations: [Operation]) throws -> [Int: String] {
    var stores: [Int: String] = [:]
    for (index, operation) in operations.enumerated() {
      for part in operation.parts {
        guard part.register == .content else { continue }
        switch operation.kind {
        case .item:
          guard case .clear(let content) = part.value else { continue }
          guard try ItemContent(parsing: content).tag == operation.tag else { throw VoidCause.tag }
        case .setting:
          guard let name = try part.value.settingName, name.tag == operation.tag else { throw VoidCause.tag }
          stores[index] = name.store
        }
      }
    }
    return stores
  }
}
