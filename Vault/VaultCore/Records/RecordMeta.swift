package import SecretMemory

/// The kind of a record. Kinds 3 to 6 are reserved for records of later versions.
package enum RecordKind: UInt8 {
  case item = 1
  case group
  case accessRule
  case alias
  case policy
  case history

  /// Sealed under the system key, in the group of zeros.
  package var isSystem: Bool { self != .item && self != .history }

  /// The first bytes of identifiers of such records.
  package var firstBytes: ClosedRange<UInt8> {
    switch self {
    case .item: 0x01...0x7F
    case .history: 0x80...0xFF
    case .group, .accessRule, .alias, .policy: 0x00...0x00
    }
  }
}

/// The clear header of a record, 16 bytes. Every key of the record is bound to it. Section 7.1 of FORMAT.md.
package struct RecordMeta: Equatable {
  package let kind: RecordKind
  package let accessibility: Accessibility
  package let epoch: UInt32
  /// The generation whose commit wrote the record.
  package let version: UInt64

  package init(kind: RecordKind, accessibility: Accessibility, epoch: UInt32, version: UInt64) {
    (self.kind, self.accessibility, self.epoch, self.version) = (kind, accessibility, epoch, version)
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = [kind.rawValue, accessibility.rawValue, 0, 0]
    bytes.append(littleEndian: epoch)
    bytes.append(littleEndian: version)
    return bytes
  }
}

extension RecordMeta {
  /// - Parameter generation: the newest that the record may be of, if that is not the header's.
  /// - Throws: `recordMalformed`.
  package init(parsing record: RecordHead, header: Header, upTo generation: UInt64? = nil) throws(VaultError) {
    var reader = ByteReader(record.meta, orThrow: .recordMalformed)
    let rawKind: UInt8 = try reader.readInteger()
    let rawAccessibility: UInt8 = try reader.readInteger()
    try reader.readZeros(2)
    epoch = try reader.readInteger()
    version = try reader.readInteger()
    try reader.readEnd()
    guard let kind = RecordKind(rawValue: rawKind), let accessibility = Accessibility(rawValue: rawAccessibility) else {
      throw VaultError(.recordMalformed, "kind \(rawKind), class \(rawAccessibility)")
    }
    self.kind = kind
    self.accessibility = accessibility
    guard (1...(generation ?? header.generation)).contains(version), epoch > 0 else {
      throw VaultError(.recordMalformed, "version or epoch")
    }
    if kind.isSystem {
      guard record.group == .zero, accessibility == .whenUnlocked, epoch == header.masterEpoch else {
        throw VaultError(.recordMalformed, "a system record outside its group, class or epoch")
      }
    } else if kind == .item && record.group == .zero {
      throw VaultError(.recordMalformed, "an item in the system's group")
    }
    guard kind.firstBytes.contains(record.id.byte(at: 0)) else {
      throw VaultError(.recordMalformed, "kind \(rawKind) under \(record.id)")
    }
    guard SecretBox.isBoxCount(record.attributes.count), SecretBox.isBoxCount(record.secretCount) else {
      throw VaultError(.recordMalformed, "the length of a sealed field")
    }
  }
}
