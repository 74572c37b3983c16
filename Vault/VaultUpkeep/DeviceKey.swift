internal import SecretMemory
package import VaultCore

extension GroupKeys {
  /// Whether a class key is in a box of the device key.
  /// - Throws: `locked`; errors of locked memory.
  package func opensBoxes(_ keys: VaultKeys) throws -> Bool { try classKeys.contains { try boxed($0, keys) != nil } }

  /// Returns nil if the class is not bound to a device, or the box is of another device.
  private func boxed(_ name: ClassKey, _ keys: VaultKeys) throws(VaultError) -> Key? {
    guard name.accessibility.isThisDeviceOnly else { return nil }
    do { return try key(name.accessibility, epoch: name.epoch, keys: keys) } catch {
      guard error.code == .deviceKeyMissing || error.code == .wrongDeviceKey else { throw error }
      return nil
    }
  }

  /// The same class keys: those whose boxes open under the old device key, in boxes of the new one; those of other devices as they are.
  /// - Throws: `deviceKeyMissing` if a box opens, and there is no new device key; errors of locked memory.
  func reboxed(_ old: VaultKeys, _ new: VaultKeys, version: UInt64) throws(VaultError) -> GroupKeys {
    let reboxed = try classKeys.map { (name) throws(VaultError) in
      guard let key = try boxed(name, old) else { return name }
      let seal = try new.deviceSealKey(groupID: groupID, name.accessibility, epoch: name.epoch)
      let box = try SecretBox.sealInside(key.secret, key: seal)
      return ClassKey(name.accessibility, epoch: name.epoch, stored: box, isReplaced: name.isReplaced)
    }
    return try with(reboxed, group, version: version)
  }
}
