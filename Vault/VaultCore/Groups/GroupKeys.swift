package import SecretMemory

/// The keys of one access group, as its record holds them: one that names items, and one for each protection class and epoch.
///
/// A class because keys cannot be copied into arrays. Immutable. Sections 8.2 and 8.3 of FORMAT.md.
package final class GroupKeys {
  package let group: AccessGroup
  package let created: Timestamp
  /// The identifier in the items' records. It is random, so the file does not reveal the group's name.
  package let groupID: Identifier
  /// The generation that wrote the record.
  package let version: UInt64
  private let indexKey: Key
  package let classKeys: [ClassKey]
  /// Whether only those keys are left that a lock leaves.
  private let isLocked: Bool

  /// One class key. For …ThisDevice classes it is sealed under the device key, but for those of a locked vault, which has none.
  package final class ClassKey {
    package let accessibility: Accessibility
    package let epoch: UInt32
    /// 32 bytes, or a box of 168.
    fileprivate let stored: Secret
    fileprivate let isBoxed: Bool
    /// Nothing new is sealed under it, and its rows are being sealed anew.
    package let isReplaced: Bool

    package init(
      _ accessibility: Accessibility, epoch: UInt32, stored: consuming Secret, isBoxed: Bool? = nil, isReplaced: Bool = false
    ) {
      self.isReplaced = isReplaced
      self.accessibility = accessibility
      self.epoch = epoch
      self.stored = stored
      self.isBoxed = isBoxed ?? accessibility.isThisDeviceOnly
    }

    fileprivate static func storedCount(_ accessibility: Accessibility) -> Int {
      accessibility.isThisDeviceOnly ? SecretBox.overhead + Padding.paddedCount(Key.byteCount) : Key.byteCount
    }
  }

  private init(
    group: AccessGroup, created: Timestamp, groupID: Identifier, version: UInt64, indexKey: consuming Key, classKeys: [ClassKey],
    isLocked: Bool = false
  ) {
    self.group = group
    self.created = created
    self.groupID = groupID
    self.version = version
    self.indexKey = indexKey
    self.classKeys = classKeys
    self.isLocked = isLocked
  }

  /// A new group with keys for the classes that move with the vault; the others come when they are first needed.
  package static func make(_ group: AccessGroup, at now: Timestamp, version: UInt64) throws(VaultError) -> GroupKeys {
    guard let groupID = Identifier(SecretBox.randomBytes(Identifier.byteCount)) else { throw VaultError(.groupMalformed) }
    return GroupKeys(
      group: group, created: now, groupID: groupID, version: version, indexKey: try .random(),
      classKeys: [
        ClassKey(.whenUnlocked, epoch: 1, stored: try .random(count: Key.byteCount)),
        ClassKey(.afterFirstUnlock, epoch: 1, stored: try .random(count: Key.byteCount)),
      ])
  }

  /// The same group with one more key for a class: its first, or that of a further device.
  /// - Throws: `deviceKeyMissing`, `locked`; `vaultFull` at 255 keys, of which a lost device leaves up to three.
  package func adding(_ accessibility: Accessibility, keys: VaultKeys, version: UInt64) throws(VaultError) -> GroupKeys {
    let last = classKeys.last { $0.accessibility == accessibility }?.epoch ?? 0
    guard classKeys.count < UInt8.max, last < .max else { throw VaultError(.vaultFull, "keys of the group \(group)") }
    let epoch = last + 1
    var stored = try Secret.random(count: Key.byteCount)
    if accessibility.isThisDeviceOnly {
      stored = try SecretBox.sealInside(stored, key: try keys.deviceSealKey(groupID: groupID, accessibility, epoch: epoch))
    }
    let classKeys = (self.classKeys + [ClassKey(accessibility, epoch: epoch, stored: stored)]).sorted {
      ($0.accessibility.rawValue, $0.epoch) < ($1.accessibility.rawValue, $1.epoch)
    }
    return try with(classKeys, group, version: version)
  }

  /// The same group under another name: gid and keys stay, so no item is sealed anew.
  package func renamed(_ group: AccessGroup, version: UInt64) throws(VaultError) -> GroupKeys {
    try with(classKeys, group, version: version)
  }

  package func with(_ classKeys: [ClassKey], _ group: AccessGroup, version: UInt64) throws(VaultError) -> GroupKeys {
    GroupKeys(
      group: group, created: created, groupID: groupID, version: version, indexKey: try indexKey.duplicate(), classKeys: classKeys
    )
  }

  package var isBeingReplaced: Bool { classKeys.contains(where: \.isReplaced) }

  package func isReplaced(_ accessibility: Accessibility, epoch: UInt32) -> Bool {
    classKeys.contains { $0.accessibility == accessibility && $0.epoch == epoch && $0.isReplaced }
  }

  /// The same group with a mark at each key that opens here, and a new one for each class of these.
  /// - Throws: as `adding`.
  package func replacingKeys(keys: VaultKeys, version: UInt64) throws(VaultError) -> GroupKeys {
    var marked: [ClassKey] = []
    var classes: Set<Accessibility> = []
    for old in classKeys {
      if old.isBoxed, (try? key(old.accessibility, epoch: old.epoch, keys: keys)) == nil {
        marked.append(old)
        continue
      }
      marked.append(ClassKey(old.accessibility, epoch: old.epoch, stored: try old.stored.duplicate(), isReplaced: true))
      classes.insert(old.accessibility)
    }
    var group = try with(marked, group, version: version)
    for accessibility in classes { group = try group.adding(accessibility, keys: keys, version: version) }
    return group
  }

  package func droppingReplacedKeys(version: UInt64) throws(VaultError) -> GroupKeys {
    try with(classKeys.filter { !$0.isReplaced }, group, version: version)
  }

  /// The keys that a lock leaves: the key that names items, and those of the classes "after first unlock", opened, because the
  /// device key is wiped as well. A class key that does not open on this device is left out.
  /// - Throws: errors of locked memory.
  func locked(keys: VaultKeys) throws(VaultError) -> GroupKeys {
    var left: [ClassKey] = []
    for classKey in classKeys where classKey.accessibility.isKeptWhileLocked {
      do throws(VaultError) {
        let key = try key(classKey.accessibility, epoch: classKey.epoch, keys: keys)
        left.append(ClassKey(classKey.accessibility, epoch: classKey.epoch, stored: key.secret, isBoxed: false))
      } catch {
        guard error.code == .deviceKeyMissing || error.code == .wrongDeviceKey else { throw error }
      }
    }
    return GroupKeys(
      group: group, created: created, groupID: groupID, version: version, indexKey: try indexKey.duplicate(), classKeys: left,
      isLocked: true)
  }

  package func itemID(_ item: Item) -> Identifier {
    var context = Context(.itemID)
    context.append(item.itemClass.rawValue)
    context.append(TLV.encode(item.primaryKey))
    return indexKey.digest(context).identifier.ofItem
  }

  /// The identifier of a former version; of the head of a removed item for the version 2^64 - 1.
  package func historyID(_ origin: Identifier, _ version: UInt64) -> Identifier {
    var context = Context(.historyID)
    context.append(origin)
    context.append(version)
    return indexKey.digest(context).identifier.ofFormerVersion
  }

  /// The epoch that new items of a class are sealed under: the highest whose key opens here; nil if the group has none. Other
  /// devices have made the others.
  /// - Throws: `deviceKeyMissing`; errors of locked memory.
  package func currentEpoch(_ accessibility: Accessibility, keys: VaultKeys) throws(VaultError) -> UInt32? {
    for classKey in classKeys.reversed() where classKey.accessibility == accessibility && !classKey.isReplaced {
      do throws(VaultError) {
        _ = try key(accessibility, epoch: classKey.epoch, keys: keys)
        return classKey.epoch
      } catch {
        guard error.code == .wrongDeviceKey else { throw error }
      }
    }
    return nil
  }

  /// Class and epoch of each key, in order.
  package var keyNames: [(accessibility: Accessibility, epoch: UInt32)] { classKeys.map { ($0.accessibility, $0.epoch) } }

  package var hasPasscodeKey: Bool { classKeys.contains { $0.accessibility == .whenPasscodeSetThisDevice } }

  /// - Throws: `unknownGroup` (no such key), `deviceKeyMissing`, `wrongDeviceKey`; `locked` for a key that a lock has not left.
  package func key(_ accessibility: Accessibility, epoch: UInt32, keys: VaultKeys) throws(VaultError) -> Key {
    guard let classKey = classKeys.first(where: { $0.accessibility == accessibility && $0.epoch == epoch }) else {
      if isLocked { throw VaultError(.locked) }
      throw VaultError(.unknownGroup, "no key for class \(accessibility.rawValue), epoch \(epoch)")
    }
    if !classKey.isBoxed, let key = Key(try classKey.stored.duplicate()) { return key }
    let seal = try keys.deviceSealKey(groupID: groupID, accessibility, epoch: epoch)
    let opened: Secret
    do throws(VaultError) {
      opened = try SecretBox.openInside(classKey.stored, key: seal)
    } catch {
      // The record is proven, so the box is genuine: it was sealed on another device.
      throw error.code == .sealBroken ? VaultError(.wrongDeviceKey) : error
    }
    guard let key = Key(opened) else { throw VaultError(.groupMalformed, "a device key's length") }
    return key
  }

  // MARK: The record

  /// The plaintext of field `a`.
  package var attributes: [UInt8] {
    var attributes = Attributes()
    attributes["name"] = .text(group.name)
    attributes["created"] = .time(created)
    return TLV.encode(attributes)
  }

  /// The plaintext of field `s`.
  package func encodeSecret() throws(VaultError) -> Secret {
    let entryCounts = classKeys.map { 8 + ClassKey.storedCount($0.accessibility) }
    var secret = try Secret(count: Identifier.byteCount + Key.byteCount + 1 + entryCounts.reduce(0, +))
    secret.write(groupID.bytes, at: 0)
    secret.write(indexKey.secret, at: 16)
    secret.write(UInt8(classKeys.count), at: 48)
    var offset = 49
    for (classKey, count) in zip(classKeys, entryCounts) {
      var head: [UInt8] = [classKey.accessibility.rawValue, classKey.isReplaced ? 1 : 0, 0, 0]
      head.append(littleEndian: classKey.epoch)
      secret.write(head, at: offset)
      secret.write(classKey.stored, at: offset + 8)
      offset += count
    }
    return secret
  }

  /// - Throws: `attributesMalformed`, `groupMalformed`.
  package static func decode(attributes bytes: [UInt8], secret: borrowing Secret, version: UInt64) throws(VaultError) -> GroupKeys
  {
    let attributes = try TLV.decode(bytes)
    guard case .text(let name)? = attributes["name"], case .time(let created)? = attributes["created"] else {
      throw VaultError(.groupMalformed, "name or time")
    }
    let group: AccessGroup
    do { group = try AccessGroup(name) } catch { throw VaultError(.groupMalformed, "name") }
    guard secret.count >= 49, let groupID = Identifier(try secret.copy(0, 16).copyIntoUnprotectedBytes()), groupID != .zero,
      let indexKey = Key(try secret.copy(16, Key.byteCount))
    else { throw VaultError(.groupMalformed) }
    var classKeys: [ClassKey] = []
    var offset = 49
    for _ in 0..<secret.byte(at: 48) {
      guard offset + 8 <= secret.count else { throw VaultError(.groupMalformed, "ends early") }
      var reader = ByteReader(try secret.copy(offset, 8).copyIntoUnprotectedBytes(), orThrow: .groupMalformed)
      guard let accessibility = Accessibility(rawValue: try reader.readInteger()) else {
        throw VaultError(.groupMalformed, "class")
      }
      let mark: UInt8 = try reader.readInteger()
      try reader.readZeros(2)
      let epoch: UInt32 = try reader.readInteger()
      let count = ClassKey.storedCount(accessibility)
      guard mark <= 1, epoch > 0, offset + 8 + count <= secret.count,
        classKeys.last.map({ ($0.accessibility.rawValue, $0.epoch) < (accessibility.rawValue, epoch) }) ?? true
      else { throw VaultError(.groupMalformed, "a class key") }
      classKeys.append(ClassKey(accessibility, epoch: epoch, stored: try secret.copy(offset + 8, count), isReplaced: mark == 1))
      offset += 8 + count
    }
    guard offset == secret.count, !classKeys.isEmpty else { throw VaultError(.groupMalformed, "length") }
    return GroupKeys(
      group: group, created: created, groupID: groupID, version: version, indexKey: indexKey, classKeys: classKeys)
  }
}
