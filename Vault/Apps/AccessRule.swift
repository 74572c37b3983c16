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
  /// - Parameter secret: The record's column `s`, if it was not read from the store.
  func openAccessRule(_ record: RecordHead, secret: [UInt8]? = nil, upTo generation: UInt64? = nil) throws -> AccessRule? {
    let meta = try RecordMeta(parsing: record, header: header, upTo: generation)
    guard meta.kind == .accessRule else { throw VaultError(.recordMalformed, "no access rule") }
    let attributes = try keys.openSystem(.attributes, record.attributes, of: record, meta: meta)
    let secretCount = try keys.openSystem(.secret, secret ?? self.secret(of: record), of: record, meta: meta).count
    guard let rule = try AccessRule(decoding: attributes.copyIntoUnprotectedBytes()) else { return nil }
    guard secretCount == 0 else { throw VaultError(.accessRuleMalformed, "with a secret") }
    guard try rule.recordID(keys) == record.id else { throw VaultError(.identifierMismatch, "an access rule") }
    return rule
  }

  /// All rules, proven to be all. Of a locked vault those that nobody has changed since it was locked.
  /// - Parameter damaged: is told of each record that is missing or damaged. It is left out if that returns.
  /// - Throws: faults of the tree; what `damaged` throws.
  func accessRules(damaged: (VaultError) throws -> Void = { throw $0 }) throws -> [AccessRule] {
    if let kept = keys.kept { return try kept.rules(in: self) }
    var rules: [AccessRule] = []
    try forEachRecord(.accessRule, damaged: damaged) { record, meta in
      if meta.kind == .accessRule, let rule = try openAccessRule(record) { rules.append(rule) }
    }
    return rules
  }
}
