package import SecretMemory

extension Vault {
  package struct Unlocked: ~Copyable {
    let master: Key
    let vault: Identifier
    let slot: SlotDescription
    let masterEpoch: UInt32

    package consuming func keys(device: consuming Secret?) throws -> VaultKeys {
      try VaultKeys(master: master, vault: vault, device: device)
    }
  }

  /// Finds the slot that the credential opens. Nothing read here is proven yet: the master key is what proves it.
  ///
  /// The key derivation, up to seconds of it, runs outside the store's transaction.
  package static func unlock(
    _ store: any Store, with credential: borrowing Credential, ceiling: KDFCeiling
  ) throws -> Unlocked {
    let (header, slots) = try store.read { rows in
      (try SealedHeader(reading: rows).header, try SlotRows(reading: rows).parsed())
    }
    let candidates = slots.filter { $0.type == credential.slotType && (credential.salt ?? $0.salt) == $0.salt }
    guard !candidates.isEmpty else { throw VaultError(.noSuchSlot) }
    // The cost of a slot is in the file, and a slot with too high a cost must not hide the others.
    var tooExpensive: VaultError?
    for slot in candidates {
      do throws(VaultError) {
        if let master = try slot.open(with: credential, vault: header.vault, ceiling: ceiling) {
          return Unlocked(
            master: master, vault: header.vault, slot: slot.description, masterEpoch: header.masterEpoch)
        }
      } catch {
        guard error.code == .kdfAboveCeiling || error.code == .outOfMemory else { throw error }
        tooExpensive = error
      }
    }
    throw tooExpensive ?? VaultError(.wrongCredential)
  }

  /// The facts that can be read without a key, and therefore without proof.
  /// - Throws: `notAVault`, `newerFormat`, `unknownIncompatibleFlag`, `headerMalformed`, `slotsForged`, `slotMalformed`,
  ///   `unknownSlotType`, `kdfBelowFloor`; what the store throws.
  public static func inspect(_ store: any Store) throws -> VaultStatus {
    try store.read { rows in
      VaultStatus(try SealedHeader(reading: rows), slots: try SlotRows(reading: rows).parsed(), isProven: false)
    }
  }

  /// The same, proven.
  /// - Throws: `VaultError`, if the header or a slot is malformed or forged; the errors of the store.
  public borrowing func status() throws -> VaultStatus {
    try reading { state, _ in
      VaultStatus(state.sealedHeader, slots: try state.slotRows().parsed(), isProven: true)
    }
  }
}

/// The header of a vault, without its content.
public struct VaultStatus: Sendable {
  /// The identifier of the vault.
  public let id: Identifier
  /// The number of commits so far.
  public let generation: UInt64
  /// Items and groups.
  public let recordCount: UInt64
  /// The time at which the vault was made.
  public let created: Timestamp
  /// 0 to 2.
  public let treeDepth: Int
  /// The number of the master key, from 1.
  public let masterEpoch: UInt32
  /// The slots.
  public let slots: [SlotDescription]
  /// Whether all of this was proven with the master key.
  public let isProven: Bool
  /// 16 hexadecimal digits that name this state of the vault: for comparing two copies by eye.
  public let checkCode: String

  init(_ sealed: SealedHeader, slots: [KeySlot], isProven: Bool) {
    let header = sealed.header
    id = header.vault
    generation = header.generation
    recordCount = header.recordCount
    created = header.created
    treeDepth = header.depth
    masterEpoch = header.masterEpoch
    self.slots = slots.map(\.description)
    self.isProven = isProven
    checkCode = String(sealed.mac.identifier.description.prefix(16))
  }
}
