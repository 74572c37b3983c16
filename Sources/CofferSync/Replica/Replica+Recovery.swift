package import VaultCore

extension Replica {
  /// The device of a recovery key, which needs no other device: the entry that has added it holds the key of its epoch, and the members are
  /// proven from the first entry. Section 8 of docs/sync-format.md.
  /// - Throws: `removed`; `notAMember` if no entry has added it; the errors of `init(joining:)`, if entries are missing.
  package init(recovering identity: DeviceIdentity, space: Identifier, _ engine: any Engine, _ values: ValueKey) throws {
    var halt: Halt?
    // The last one first: the others are made by a program that writes to the engine, or lie in a history that was left.
    for entry in try Self.entries(of: engine, from: 0).reversed() {
      guard let welcome = try Welcome(adding: identity, entry.bytes, space) else { continue }
      do {
        self = try Replica(joining: identity, welcome, engine, values)
        return
      } catch let error as Halt {
        halt = halt ?? error
      }
    }
    throw halt ?? .notAMember
  }
}

extension Welcome {
  /// The welcome that the entry of a new device is for it.
  /// - Returns: nil for an entry without a key for this device.
  fileprivate init?(adding identity: DeviceIdentity, _ entry: [UInt8], _ space: Identifier) throws {
    let sealed: SealedEntry
    do { sealed = try SealedEntry(parsing: entry) } catch { return nil }
    guard sealed.space == space, SealedKeys.areFor([identity.record(.reader)], sealed.clear[...]),
      let key = try SealedKeys.open(0, sealed.clear[...], identity), sealed.number < .max
    else { return nil }
    self.init(
      space: space, count: sealed.number + 1, chain: Chain.after(sealed.chain, entry), link: ObjectName(of: entry).digest,
      epoch: sealed.epoch, key: key)
  }
}
