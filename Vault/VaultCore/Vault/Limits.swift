package import SecretMemory

/// The limits that the owner has set for the vault: the policy `limits`. Section 8.10 of FORMAT.md.
public struct Limits: Equatable, Sendable {
  /// A limit, as the owner names it.
  public enum Name: String, CaseIterable, Sendable {
    /// How many versions of an item are kept, the last one of a removed item included; 0 keeps none.
    case historyVersions = "history-versions"
    /// For how many days a former version is kept; 0 keeps none.
    case historyDays = "history-days"
    /// After how many minutes without use an agent locks the vault; 0: as the agent was started.
    case idleMinutes = "idle-minutes"
    /// How many passes a new passphrase takes.
    case kdfPasses = "kdf-passes"
    /// How much memory a new passphrase takes, in KiB.
    case kdfMemory = "kdf-memory"

    /// The values that it may have.
    public var range: ClosedRange<UInt64> {
      switch self {
      case .historyVersions: 0...UInt64(FormerVersion.maximumCount)
      case .historyDays: 0...3650
      case .idleMinutes: 0...10_080
      case .kdfPasses: 3...64
      case .kdfMemory: 65_536...4_194_304
      }
    }

    /// The value in a vault without the limit.
    public var standard: UInt64 {
      switch self {
      case .historyVersions: 10
      case .historyDays: 90
      case .idleMinutes: 0
      case .kdfPasses: UInt64(KDFParameters.standard.iterations)
      case .kdfMemory: UInt64(KDFParameters.standard.memoryKiB)
      }
    }
  }

  /// Those that are set, and names of later versions.
  package var attributes = Attributes()

  /// No limit is set.
  public init() {}

  /// - Throws: `policyMalformed`.
  init(decoding attributes: Attributes) throws(VaultError) {
    self.attributes = attributes
    for name in Name.allCases {
      switch attributes[name.rawValue] {
      case nil: continue
      case .integer(let value)? where name.range.contains(value): continue
      default: throw VaultError(.policyMalformed, name.rawValue)
      }
    }
  }

  /// The value that counts.
  public func value(_ name: Name) -> UInt64 { self[name] ?? name.standard }

  /// The value that the owner has set; nil if the standard counts.
  public subscript(name: Name) -> UInt64? {
    if case .integer(let value)? = attributes[name.rawValue] { value } else { nil }
  }

  /// The first of these versions that are kept; they are the newest first.
  package func kept(_ versions: [FormerVersion], at now: Timestamp) -> [FormerVersion] {
    let days = Int64(clamping: value(.historyDays))
    guard days > 0 else { return [] }
    let oldest = now.secondsSince1970.subtractingReportingOverflow(days * 86_400).partialValue
    return versions.prefix(Int(clamping: value(.historyVersions))).filter { $0.replaced.secondsSince1970 >= oldest }
  }
}

extension VaultKeys {
  package func policyID(_ policy: String, _ key: String = "") throws(VaultError) -> Identifier {
    var context = Context(.policyID)
    context.appendCounted(Array(policy.utf8))
    context.appendCounted(Array(key.utf8))
    return try systemRecordID(context)
  }
}

extension ProvenState {
  /// The limits; nil is a record of a policy with another name.
  /// - Throws: `policyMalformed`, `identifierMismatch`; what opening throws.
  package func openLimits(_ record: RecordHead, secret: [UInt8]? = nil) throws -> Limits? {
    let meta = try RecordMeta(parsing: record, header: header)
    var attributes = try TLV.decode(
      keys.openSystem(.attributes, record.attributes, of: record, meta: meta).copyIntoUnprotectedBytes())
    guard meta.kind == .policy, case .text(let name)? = attributes["policy"] else { throw VaultError(.policyMalformed) }
    guard name == "limits" else { return nil }
    guard try keys.openSystem(.secret, secret ?? self.secret(of: record), of: record, meta: meta).count == 0 else {
      throw VaultError(.policyMalformed, "with a secret")
    }
    guard try keys.policyID(name) == record.id else { throw VaultError(.identifierMismatch, "a policy") }
    attributes["policy"] = nil
    return try Limits(decoding: attributes)
  }

  package func limits() throws -> Limits {
    if let kept = keys.kept { return kept.limits }
    return try record(keys.policyID("limits")).flatMap { try openLimits($0) } ?? Limits()
  }

  /// The limits by which versions are removed. A damaged policy is passed to `damaged`; then everything is kept that any policy can keep,
  /// because a version that was removed does not come back.
  package func limits(damaged: (VaultError) -> Void) throws -> Limits {
    do { return try limits() } catch let error as VaultError {
      guard error.code.concernsOneRecord else { throw error }
      damaged(error)
      var most = Limits()
      for name in [Limits.Name.historyVersions, .historyDays] { most.attributes[name.rawValue] = .integer(name.range.upperBound) }
      return most
    }
  }
}
