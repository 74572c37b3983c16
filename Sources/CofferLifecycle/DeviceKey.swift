package import CofferStorage
package import SecretMemory
package import VaultCore
package import VaultUpkeep

extension DeviceKeyFiles {
  /// Gives a vault that was just opened the key of this device that is in force.
  /// - Parameter making: Whether a key is made if there is none.
  /// - Returns: Whether there is one.
  /// - Throws: as `load`, `createUnlessThere`; `masterKeyChanged`, `locked`.
  @discardableResult
  package func open(_ vault: borrowing Vault, making: Bool = false) throws -> Bool {
    if making { try createUnlessThere() }
    guard let key = try load(for: vault) else { return false }
    try vault.use(deviceKey: key)
    return true
  }

  /// - Throws: as `open`.
  func load(for vault: borrowing Vault) throws -> Secret? { try load { try vault.opensBoxes(under: $0) } }

  /// Gives a backup the key of this device that opens a box of it, or else the one that its vault would use.
  /// - Throws: as `open`.
  package func open(_ backup: RestoredVault, in store: FileStore) throws {
    let key = try load { key in
      let keys = try backup.keys.with(device: key.duplicate())
      return try store.read { try ProvenState(proving: $0, keys: keys).opensBoxes() }
    }
    backup.keys = try backup.keys.with(device: key)
  }

  // MARK: Within the maintenance lock

  /// Ends the rotation of a key that was killed after its commit.
  /// - Throws: as `load`, `takeNext`.
  func settle(for opened: borrowing Vault) throws {
    guard let key = try next.load(), try opened.opensBoxes(under: key) else { return }
    try takeNext()
  }

  /// Makes a key that is going to take the place of the present one. Afterwards the present one opens a box of the group `default`, which
  /// cannot be removed, so that one opens under the new key when it is in force.
  /// - Throws: as `makeNext`; `groupNotFound`, `vaultFull`; integrity errors.
  func prepareNext(for opened: inout Vault) throws {
    try open(opened, making: true)
    try opened.transaction { transaction in
      let group = try transaction.group(.standard)
      guard try group.currentEpoch(.whenUnlockedThisDevice, keys: transaction.keys) == nil else { return }
      try transaction.put(
        group.adding(.whenUnlockedThisDevice, keys: transaction.keys, version: transaction.generation))
    }
    try makeNext()
  }

  /// Removes the key of `prepareNext` if the commit has failed, and no box opens under it.
  func dropNext(of opened: borrowing Vault) {
    guard let key = try? next.load(), (try? opened.opensBoxes(under: key)) == false else { return }
    removeNext()
  }
}

extension Vault {
  /// From here on the vault has this key of the device.
  /// - Throws: `deviceKeyMissing` for another length than 32 bytes; `locked`; errors of locked memory.
  package borrowing func use(deviceKey: consuming Secret?) throws {
    let keys = try keys.with(device: deviceKey)
    if let newest = keyring.newest { keyring.adopt(newest, keys) }
  }

  /// Whether a class key is in a box of this device key.
  fileprivate borrowing func opensBoxes(under deviceKey: borrowing Secret) throws -> Bool {
    let keys = try keys.with(device: deviceKey.duplicate())
    // The state has the keys that the vault has now, so the same rows are proven with the others.
    return try reading { state, _ in try ProvenState(proving: state.rows, keys: keys).opensBoxes() }
  }
}

extension VaultKeys {
  fileprivate func with(device: consuming Secret?) throws -> VaultKeys {
    try VaultKeys(master: withMaster { try $0.duplicate() }, vault: vault, device: device)
  }
}

extension ProvenState {
  /// Whether a class key is in a box of the device key. Damage of the vault says nothing about its device, so it is none of this question.
  fileprivate func opensBoxes() throws -> Bool {
    do {
      return try GroupDirectory(self, damaged: { _ in }).all.contains { try $0.opensBoxes(keys) }
    } catch let error as VaultError where [.nodeMissing, .nodeMalformed, .nodeForged].contains(error.code) {
      return false
    } catch let error as StorageError where Restoration.isDamage(error) {
      return false
    }
  }
}
