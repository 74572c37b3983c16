/// That the owner lets an app of another team, or a program that is no app, into a group.
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

  /// That there are items is told unasked.
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
    attributes["rule"] = .text(AccessRule.grantName)
    return attributes
  }

  /// - Throws: `accessRuleMalformed`, also for a right that this version does not know: to leave it out could be to allow more.
  package init(_ attributes: Attributes) throws(VaultError) {
    guard case .text(let application)? = attributes["application"], case .text(let name)? = attributes["group"],
      case .integer(let rights)? = attributes["rights"], case .integer(let confirm)? = attributes["confirm"],
      case .time(let created)? = attributes["created"], let raw = UInt8(exactly: rights),
      Entitlements.Rights.all.isSuperset(of: Entitlements.Rights(rawValue: raw)), confirm <= 1
    else { throw VaultError(.accessRuleMalformed, "a grant") }
    let group: AccessGroup
    do { group = try AccessGroup(name) } catch { throw VaultError(.accessRuleMalformed, "a grant's group") }
    self.init(
      to: application, group, Entitlements.Rights(rawValue: raw), asksForConfirmation: confirm == 1, at: created)
  }
}
