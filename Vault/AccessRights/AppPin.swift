package import SecretMemory
public import VaultCore

/// The record of an installed app of a team, with its version. It stays when the app is removed, as the app's items do.
public struct AppPin: Sendable, Equatable {
  /// The public key of the app's team.
  public let teamKey: TeamKey
  /// The app's identifier, without the team.
  public let identifier: AppIdentifier
  /// The name that people see.
  public var displayName: String
  /// The highest that was ever installed. An older one is refused.
  public var version: UInt64
  /// The time of the first installation.
  public let firstInstalled: Timestamp
  /// Nil while it is installed.
  public var removed: Timestamp?

  /// `TEAM.identifier`.
  public var applicationIdentifier: String { "\(teamKey.identifier).\(identifier)" }

  init(_ signed: SignedManifest, at now: Timestamp) {
    teamKey = signed.teamKey
    identifier = signed.manifest.identifier
    displayName = signed.manifest.displayName
    version = signed.manifest.version
    firstInstalled = now
  }

  // MARK: The record

  package var attributes: Attributes {
    var attributes = Attributes()
    attributes["team-key"] = .data(teamKey.bytes)
    attributes["identifier"] = .text(identifier.text)
    attributes["name"] = .text(displayName)
    attributes["version"] = .integer(version)
    attributes["installed"] = .time(firstInstalled)
    attributes["removed"] = removed.map { .time($0) }
    attributes["rule"] = .text(AccessRule.Kind.pin.rawValue)
    return attributes
  }

  /// - Throws: `accessRuleMalformed`.
  package init(_ attributes: Attributes) throws(VaultError) {
    guard let rule = try AccessRule(attributes) else { throw VaultError(.accessRuleMalformed, "a pin") }
    try self.init(rule)
  }

  /// - Throws: `accessRuleMalformed` for a rule of another kind.
  init(_ rule: AccessRule) throws(VaultError) {
    let attributes = rule.attributes
    guard rule.kind == .pin, case .data(let key)? = attributes["team-key"],
      case .text(let identifier)? = attributes["identifier"],
      case .text(let name)? = attributes["name"], case .integer(let version)? = attributes["version"],
      case .time(let installed)? = attributes["installed"]
    else { throw VaultError(.accessRuleMalformed, "a pin") }
    teamKey = try TeamKey(key)
    self.identifier = try AppIdentifier(identifier)
    displayName = name
    self.version = version
    firstInstalled = installed
    if case .time(let time)? = attributes["removed"] { removed = time }
  }
}
