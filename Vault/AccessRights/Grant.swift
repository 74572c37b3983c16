package import SecretMemory
public import VaultCore

/// The owner's permission for an app of another team, or for a program that is not an app, to use a group.
public struct Grant: Sendable, Equatable {
  /// `TEAM.identifier` of the app.
  public let application: String
  /// The group that the owner has granted.
  public let group: AccessGroup
  /// The rights to it.
  public let rights: Entitlements.Rights
  /// Whether the owner is to be asked each time.
  public let asksForConfirmation: Bool
  /// The time of the grant.
  public let created: Timestamp

  /// A grant of a group to an app or program.
  public init(
    to application: String, _ group: AccessGroup, _ rights: Entitlements.Rights, asksForConfirmation: Bool = false,
    at now: Timestamp
  ) {
    self.application = application
    self.group = group
    self.rights = rights
    self.asksForConfirmation = asksForConfirmation
    created = now
  }

  /// Listing needs no confirmation.
  public var entitlement: Entitlements.Group {
    Entitlements.Group(group, rights, confirmed: asksForConfirmation ? [.read, .write] : [])
  }

  // MARK: The record

  package var attributes: Attributes {
    var attributes = Attributes()
    attributes["application"] = .text(application)
    attributes["group"] = .text(group.name)
    attributes["rights"] = .integer(UInt64(rights.rawValue))
    attributes["confirm"] = .integer(asksForConfirmation ? 1 : 0)
    attributes["created"] = .time(created)
    attributes["rule"] = .text(AccessRule.Kind.grant.rawValue)
    return attributes
  }

  /// - Throws: `accessRuleMalformed`.
  package init(_ attributes: Attributes) throws(VaultError) {
    guard let rule = try AccessRule(attributes) else { throw VaultError(.accessRuleMalformed, "a grant") }
    try self.init(rule)
  }

  /// - Throws: `accessRuleMalformed` for a rule of another kind.
  init(_ rule: AccessRule) throws(VaultError) {
    let attributes = rule.attributes
    guard rule.kind == .grant, case .text(let application)? = attributes["application"],
      case .text(let group)? = attributes["group"], case .integer(let rights)? = attributes["rights"],
      case .time(let created)? = attributes["created"], let raw = UInt8(exactly: rights)
    else { throw VaultError(.accessRuleMalformed, "a grant") }
    self.init(
      to: application, try AccessGroup(group), Entitlements.Rights(rawValue: raw),
      asksForConfirmation: attributes["confirm"] == .integer(1), at: created)
  }
}
