import SecretMemory

/// The header: row 0 of `hdr`, 256 bytes. Section 4.1 of FORMAT.md.
package struct Header: Equatable {
  static let byteCount = 256
  static let magic = Array("CofferV1".utf8)
  static let majorVersion: UInt16 = 1
  static let minorVersion: UInt16 = 0
  /// The row number of the history ring.
  static let historyKey = 9
  /// A read-only flag: the vault has former versions, which a writer without them would leave behind.
  static let historyFlag: UInt32 = 1
  static let maximumDepth = 2
  /// The most records of a vault.
  static let maximumRecordCount: UInt64 = 1 << 24

  var minor = Header.minorVersion
  package var readOnlyFlags: UInt32 = 0
  package var depth = 0
  package let vault: Identifier
  package var generation: UInt64
  package var recordCount: UInt64
  package let created: Timestamp
  package var masterEpoch: UInt32
  package var slotCount: UInt32
  /// The digest of rows 1 to 9.
  package var slotsDigest: Digest
  package var root: Digest
  /// The MAC of the generation before; zeros in the first.
  package var previousMAC: Digest

  /// The 224 bytes that the MAC covers.
  private var authenticated: [UInt8] {
    var bytes = Self.magic
    bytes.reserveCapacity(Self.byteCount)
    bytes.append(littleEndian: Self.majorVersion)
    bytes.append(littleEndian: minor)
    bytes.append(littleEndian: UInt32(0))
    bytes.append(littleEndian: readOnlyFlags)
    bytes.append(littleEndian: UInt32(depth))
    bytes.append(vault)
    bytes.append(littleEndian: generation)
    bytes.append(littleEndian: recordCount)
    bytes.append(littleEndian: created.secondsSince1970)
    bytes.append(littleEndian: masterEpoch)
    bytes.append(littleEndian: slotCount)
    bytes.append(littleEndian: UInt64(0))
    bytes += slotsDigest.bytes
    bytes += root.bytes
    bytes += previousMAC.bytes
    bytes += [UInt8](repeating: 0, count: 48)
    return bytes
  }

  /// The row, with its MAC.
  func sealed(with keys: IntegrityKeys) -> SealedHeader {
    let bytes = authenticated
    return SealedHeader(header: self, bytes: bytes + keys.headerMAC(bytes).bytes)
  }
}

/// A header as it lies in the file. Section 4.1 of FORMAT.md.
package struct SealedHeader {
  package let header: Header
  /// 256 bytes.
  package let bytes: [UInt8]

  /// The last 32 bytes. Names the state of the whole vault, together with the generation.
  package let mac: Digest

  init(header: Header, bytes: [UInt8]) {
    self.header = header
    self.bytes = bytes
    mac = Digest(unchecked: Array(bytes.suffix(Digest.byteCount)))
  }

  /// - Throws: `headerMalformed` if there is none; as `init(parsing:)`.
  package init(reading rows: any Rows) throws {
    guard let bytes = try rows.header(0) else { throw VaultError(.headerMalformed, "no header") }
    try self.init(parsing: bytes)
  }

  /// Checks what can be checked without a key.
  /// - Throws: `newerFormat`, `unknownIncompatibleFlag`, `headerMalformed`.
  init(parsing bytes: [UInt8]) throws(VaultError) {
    guard bytes.count == Header.byteCount else { throw VaultError(.headerMalformed, "\(bytes.count) bytes") }
    var reader = ByteReader(bytes, orThrow: .headerMalformed)
    guard try reader.read(8) == ArraySlice(Header.magic) else { throw VaultError(.headerMalformed, "magic") }
    let major: UInt16 = try reader.readInteger()
    guard major == Header.majorVersion else {
      throw major > Header.majorVersion ? VaultError(.newerFormat, "version \(major)") : VaultError(.headerMalformed)
    }
    let minor: UInt16 = try reader.readInteger()
    guard try reader.readInteger(UInt32.self) == 0 else { throw VaultError(.unknownIncompatibleFlag) }
    let readOnlyFlags: UInt32 = try reader.readInteger()
    let depth: UInt32 = try reader.readInteger()
    guard depth <= Header.maximumDepth else { throw VaultError(.headerMalformed, "depth \(depth)") }
    let vault = try reader.readIdentifier()
    let generation: UInt64 = try reader.readInteger()
    guard generation > 0 else { throw VaultError(.headerMalformed, "generation 0") }
    let recordCount: UInt64 = try reader.readInteger()
    guard recordCount <= Header.maximumRecordCount else { throw VaultError(.headerMalformed, "\(recordCount) records") }
    let created = Timestamp(secondsSince1970: try reader.readInteger())
    let masterEpoch: UInt32 = try reader.readInteger()
    let slotCount: UInt32 = try reader.readInteger()
    guard masterEpoch > 0, (1...8).contains(slotCount) else { throw VaultError(.headerMalformed) }
    try reader.readZeros(8)
    let slotsDigest = try reader.readDigest()
    let root = try reader.readDigest()
    let previousMAC = try reader.readDigest()
    try reader.readZeros(48)
    let header = Header(
      minor: minor, readOnlyFlags: readOnlyFlags, depth: Int(depth), vault: vault, generation: generation,
      recordCount: recordCount, created: created, masterEpoch: masterEpoch, slotCount: slotCount, slotsDigest: slotsDigest,
      root: root, previousMAC: previousMAC)
    self.init(header: header, bytes: bytes)
  }

  /// - Throws: `headerForged`.
  func prove(with keys: IntegrityKeys) throws(VaultError) {
    guard keys.headerMAC(Array(bytes.prefix(Header.byteCount - Digest.byteCount))) == mac else { throw VaultError(.headerForged) }
  }
}
