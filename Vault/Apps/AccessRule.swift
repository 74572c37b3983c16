/// What a record of kind 3 says: a pin or a grant. Sealed as the records of groups are, and found by a name that the file does not tell.
enum AccessRule {
  case pin(AppPin)
  case grant(Grant)

  static let pinName = "pin"
  static let grantName = "grant"

  var attributes: [UInt8] {
    switch self {
    case .pin(let pin): TLV.encode(pin.attributes)
    case .grant(let grant): TLV.encode(grant.attributes)
    }
  }

  /// Nil where it is a rule of a later version.
  /// - Throws: `attributesMalformed`, `accessRuleMalformed`.
  init?(decoding bytes: [UInt8]) throws(VaultError) {
    let attributes = try TLV.decode(bytes)
    switch attributes["rule"] {
    case .text(Self.pinName): self = .pin(try AppPin(attributes))
    case .text(Self.grantName): self = .grant(try Grant(attributes))
    case .text: return nil
    default: throw VaultError(.accessRuleMalformed, "without its name")
    }
  }

  func recordID(_ keys: VaultKeys) throws(VaultError) -> Identifier {
    switch self {
    case .pin(let pin): try Self.pinID(pin.applicationIdentifier, keys)
    case .grant(let grant): try Self.grantID(grant.application, grant.group, keys)
    }
  }

  static func pinID(_ application: String, _ keys: VaultKeys) throws(VaultError) -> Identifier {
    var context = Context(.pinID)
    context.appendCounted(Array(application.utf8))
    return try keys.systemRecordID(context)
  }

  static func grantID(_ application: String, _ group: AccessGroup, _ keys: VaultKeys) throws(VaultError) -> Identifier {
    var context = Context(.grantID)
    context.appendCounted(Array(application.utf8))
    context.appendCounted(Array(group.name.utf8))
    return try keys.systemRecordID(context)
  }
}

extension ProvenState {
  /// The rule under an identifier; nil is a proven absence.
  /// - Throws: `recordMalformed`, `sealBroken`, `accessRuleMalformed`, `identifierMismatch`; what proving throws.
  func accessRule(_ id: Identifier, upTo generation: UInt64? = nil) throws -> AccessRule? {
    try record(id).flatMap { try openAccessRule($0, upTo: generation) }
  }

  /// Opens a record, which must be proven. Nil where it is a rule of a later version.
  /// - Parameter generation: The newest that a record may be of, where it is not the header's.
  func openAccessRule(_ record: SealedRecord, upTo generation: UInt64? = nil) throws -> AccessRule? {
    var header = header
    header.generation = generation ?? header.generation
    let meta = try RecordMeta(parsing: record, header: header)
    guard meta.kind == .accessRule else { throw VaultError(.recordMalformed, "no access rule") }
    let attributes = try keys.systemAttributes(record, meta: meta)
    let secretCount = try keys.systemSecretCount(record, meta: meta)
    guard let rule = try AccessRule(decoding: attributes) else { return nil }
    guard secretCount == 0 else { throw VaultError(.accessRuleMalformed, "with a secret") }
    guard try rule.recordID(keys) == record.id else { throw VaultError(.identifierMismatch, "an access rule") }
    return rule
  }

  /// All rules. Of each record that is left out of the store's index the rule is missing: that takes rights away, and never gives any.
  func accessRules() throws -> [AccessRule] {
    if let kept = keys.kept { return try kept.rules(in: self) }
    return try rows.records(inGroup: .zero).compactMap { id in
      guard let record = try record(id), record.meta.first == RecordKind.accessRule.rawValue else { return nil }
      return try openAccessRule(record)
    }
  }
}
