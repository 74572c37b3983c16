/// What a slot wants before it gives the master key.
public enum SlotType: UInt8, Sendable, CaseIterable {
  case passphrase = 1
  case recoveryKey
  case keyFile
  case passphraseAndKeyFile
  /// A TPM, a security key or the like. Its bytes are for the program that knows it; this version has none.
  case external

  /// Alone or together with a key file.
  public var hasPassphrase: Bool { self == .passphrase || self == .passphraseAndKeyFile }
}

/// A slot, for people: nothing in it is secret.
public struct SlotDescription: Equatable, Sendable {
  /// The row: 1 to 8.
  public let index: Int
  public let id: Identifier
  public let type: SlotType
  /// Nil for a slot without a passphrase.
  public let kdf: KDFParameters?

  package init(index: Int, id: Identifier, type: SlotType, kdf: KDFParameters?) {
    (self.index, self.id, self.type, self.kdf) = (index, id, type, kdf)
  }
}

/// A row 1 to 8 of `hdr`: the master key, sealed under a credential. FORMAT.md has the layout.
struct KeySlot {
  static let maximumExtensionCount = 4096
  /// What the commitment and the key are bound to: the bytes before the commitment.
  private static let parameterCount = 56
  private static let fixedCount = 160

  let index: Int
  let type: SlotType
  let kdf: KDFParameters?
  let salt: [UInt8]
  let id: Identifier
  let commitment: Digest
  let sealedMasterKey: [UInt8]
  let bytes: [UInt8]

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
    else {
      throw VaultError(.slotMalformed, "slot \(index): parameters")
    }
    kdf = type.hasPassphrase ? try KDFParameters(iterations: iterations, memoryKiB: memoryKiB) : nil
    self.index = index
    self.type = type
    self.bytes = bytes
  }

  /// Seals the master key under a credential.
  /// - Throws: what the credential's input key throws.
  init(
    index: Int, sealing master: borrowing Key, under credential: borrowing Credential, kdf: KDFParameters, vault: Identifier
  ) throws(VaultError) {
    let type = credential.slotType
    let kdf = type.hasPassphrase ? kdf : nil
    let salt = SecretBox.randomBytes(Argon2id.saltByteCount)
    guard let id = Identifier(SecretBox.randomBytes(Identifier.byteCount)) else { throw VaultError(.slotMalformed) }
    var bytes: [UInt8] = [type.rawValue, kdf == nil ? 0 : 1, 0, 0]
    bytes.append(littleEndian: kdf?.iterations ?? 0)
    bytes.append(littleEndian: kdf?.memoryKiB ?? 0)
    bytes.append(littleEndian: UInt32(kdf == nil ? 0 : 1))
    bytes += salt
    bytes.append(id)
    bytes += [0, 0, 0, 0, 0, 0, 0, 0]
    let keys = try Self.keys(from: try credential.inputKey(salt: salt, kdf), vault: vault, parameters: bytes)
    let nonce = SecretBox.randomBytes(SecretBox.nonceByteCount)
    bytes += keys.commitment.bytes
    bytes += SecretBox.sealUnpadded(master.secret, nonce: nonce, key: keys.sealing)
    try self.init(index: index, parsing: bytes)
  }

  /// The master key, or nil where the credential is another one.
  /// - Throws: `kdfAboveCeiling`; `slotDamaged` where the credential is right and the sealed key is not; what the input key throws.
  func open(with credential: borrowing Credential, vault: Identifier, ceiling: KDFCeiling) throws(VaultError) -> Key? {
    if let kdf { try ceiling.check(kdf) }
    let parameters = Array(bytes.prefix(Self.parameterCount)) + bytes.dropFirst(Self.fixedCount)
    let keys = try Self.keys(from: try credential.inputKey(salt: salt, kdf), vault: vault, parameters: parameters)
    // Before the box is opened: Poly1305 does not commit to a key, and a box made to open under many would tell which was tried.
    guard keys.commitment == commitment else { return nil }
    do {
      return Key(try SecretBox.openUnpadded(sealedMasterKey, key: keys.sealing))
    } catch VaultError.Code.sealBroken {
      throw VaultError(.slotDamaged, "slot \(index)")
    }
  }

  private struct Keys: ~Copyable {
    let sealing: Key
    let commitment: Digest
  }

  private static func keys(
    from input: borrowing Key, vault: Identifier, parameters: [UInt8]
  ) throws(VaultError) -> Keys {
    var sealing = Context(.slotKEK)
    sealing.append(vault)
    sealing.append(parameters)
    var commitment = Context(.slotCommitment)
    commitment.append(vault)
    commitment.append(parameters)
    return Keys(sealing: try input.derive(sealing), commitment: input.digest(commitment))
  }

  var description: SlotDescription { SlotDescription(index: index, id: id, type: type, kdf: kdf) }
}
