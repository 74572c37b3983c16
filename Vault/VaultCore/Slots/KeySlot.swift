package import SecretMemory

/// The credentials that a slot requires for the master key.
public enum SlotType: UInt8, Sendable, CaseIterable {
  /// A passphrase.
  case passphrase = 1
  /// A recovery key.
  case recoveryKey
  /// A key file.
  case keyFile
  /// A passphrase and a key file, both needed.
  case passphraseAndKeyFile
  /// A TPM, a security key or the like. Its bytes are for the program that knows it; this version has none.
  case external

  /// Alone or together with a key file.
  public var hasPassphrase: Bool { self == .passphrase || self == .passphraseAndKeyFile }
}

/// A slot, for people: nothing in it is secret.
public struct SlotDescription: Equatable, Sendable {
  package static let indices = 1...8
  /// The row.
  public let index: Int
  /// The identifier of the slot.
  public let id: Identifier
  /// The credential that opens the slot.
  public let type: SlotType
  /// Nil for a slot without a passphrase.
  public let kdf: KDFParameters?
  /// The salt of the key derivation: 16 bytes.
  package let salt: [UInt8]

  package init(index: Int, id: Identifier, type: SlotType, kdf: KDFParameters?, salt: [UInt8]) {
    (self.index, self.id, self.type, self.kdf, self.salt) = (index, id, type, kdf, salt)
  }
}

/// A row 1 to 8 of `hdr`: the master key, sealed under a credential. Sections 5.1 and 5.3 of FORMAT.md.
package struct KeySlot {
  static let maximumExtensionCount = 4096
  /// The length of the bytes before the commitment, to which the commitment and the key are bound.
  private static let parameterCount = 56
  private static let fixedCount = 160

  package let index: Int
  package let type: SlotType
  package let kdf: KDFParameters?
  package let salt: [UInt8]
  package let id: Identifier
  let commitment: Digest
  let sealedMasterKey: [UInt8]
  package let bytes: [UInt8]

  /// - Throws: `slotMalformed`, `unknownSlotType`, `kdfBelowFloor`.
  init(index: Int, parsing bytes: [UInt8]) throws(VaultError) {
    guard bytes.count >= Self.fixedCount else { throw VaultError(.slotMalformed, "slot \(index) has \(bytes.count) bytes") }
    var reader = ByteReader(bytes, orThrow: .slotMalformed)
    let rawType: UInt8 = try reader.readInteger()
    let rawKDF: UInt8 = try reader.readInteger()
    guard let type = SlotType(rawValue: rawType), rawKDF <= 1 else {
      throw VaultError(.unknownSlotType, "slot \(index): type \(rawType), key derivation \(rawKDF)")
    }
    try reader.readZeros(2)
    let iterations: UInt32 = try reader.readInteger()
    let memoryKiB: UInt32 = try reader.readInteger()
    let lanes: UInt32 = try reader.readInteger()
    salt = Array(try reader.read(Argon2id.saltByteCount))
    id = try reader.readIdentifier()
    let extensionCount: UInt32 = try reader.readInteger()
    try reader.readZeros(4)
    commitment = try reader.readDigest()
    sealedMasterKey = Array(try reader.read(SecretBox.overhead + Key.byteCount))
    guard extensionCount <= Self.maximumExtensionCount, reader.remaining == Int(extensionCount),
      type == .external || extensionCount == 0
    else { throw VaultError(.slotMalformed, "slot \(index): \(bytes.count) bytes") }
    guard rawKDF == (type.hasPassphrase ? 1 : 0), lanes == UInt32(rawKDF),
      type.hasPassphrase || (iterations == 0 && memoryKiB == 0)
    else { throw VaultError(.slotMalformed, "slot \(index): parameters") }
    kdf = type.hasPassphrase ? try KDFParameters(iterations: iterations, memoryKiB: memoryKiB) : nil
    (self.index, self.type, self.bytes) = (index, type, bytes)
  }

  /// Seals the master key under a credential.
  /// - Throws: what the credential's input key throws.
  package init(
    index: Int, sealing master: borrowing Key, under credential: borrowing Credential, kdf: KDFParameters, vault: Identifier
  ) throws(VaultError) {
    let type = credential.slotType
    let kdf = type.hasPassphrase ? kdf : nil
    let salt = credential.salt ?? SecretBox.randomBytes(Argon2id.saltByteCount)
    guard let id = Identifier(SecretBox.randomBytes(Identifier.byteCount)) else { throw VaultError(.slotMalformed) }
    var bytes: [UInt8] = [type.rawValue, kdf == nil ? 0 : 1, 0, 0]
    bytes.append(littleEndian: kdf?.iterations ?? 0)
    bytes.append(littleEndian: kdf?.memoryKiB ?? 0)
    bytes.append(littleEndian: UInt32(kdf == nil ? 0 : 1))
    bytes += salt
    bytes.append(id)
    bytes += [0, 0, 0, 0, 0, 0, 0, 0]
    let input = try credential.inputKey(salt: salt, kdf)
    let sealing = try input.derive(Self.context(.slotKEK, vault, bytes))
    bytes += input.digest(Self.context(.slotCommitment, vault, bytes)).bytes
    bytes += SecretBox.sealUnpadded(master.secret, nonce: SecretBox.randomBytes(SecretBox.nonceByteCount), key: sealing)
    try self.init(index: index, parsing: bytes)
  }

  /// The master key. Returns nil if the credential does not match the slot.
  /// - Throws: `kdfAboveCeiling`; `slotDamaged` if the credential matches and the sealed key does not open; errors of the input
  ///   key.
  package func open(with credential: borrowing Credential, vault: Identifier, ceiling: KDFCeiling) throws(VaultError) -> Key? {
    let parameters = Array(bytes.prefix(Self.parameterCount)) + bytes.dropFirst(Self.fixedCount)
    let input = try credential.inputKey(salt: salt, kdf, ceiling: ceiling)
    // Before the box is opened: Poly1305 does not commit to a key, and a box made to open under many would tell which was tried.
    guard input.digest(Self.context(.slotCommitment, vault, parameters)) == commitment else { return nil }
    let sealing = try input.derive(Self.context(.slotKEK, vault, parameters))
    do {
      return Key(try SecretBox.openUnpadded(sealedMasterKey, key: sealing))
    } catch VaultError.Code.sealBroken {
      throw VaultError(.slotDamaged, "slot \(index)")
    }
  }

  private static func context(_ label: Label, _ vault: Identifier, _ parameters: [UInt8]) -> Context {
    var context = Context(label)
    context.append(vault)
    context.append(parameters)
    return context
  }

  package var description: SlotDescription { SlotDescription(index: index, id: id, type: type, kdf: kdf, salt: salt) }
}
