package import SecretMemory

/// A record of kind 3: attributes, of which the text `rule` names the layout of the others. The core checks the layout and
/// computes the identifier of the record; the module AccessRights interprets the values. Section 8.7 of FORMAT.md has the
/// layouts.
package struct AccessRule: Sendable {
  /// The text `rule`.
  package enum Kind: String, Sendable {
    case pin, grant
  }

  /// The input of the record's identifier.
  package struct Name: Equatable, Sendable {
    private let label: Label
    private let texts: [[UInt8]]

    package static func pin(_ application: String) -> Name { Name(label: .pinID, texts: [Array(application.utf8)]) }

    package static func grant(_ application: String, _ group: AccessGroup) -> Name {
      Name(label: .grantID, texts: [Array(application.utf8), Array(group.name.utf8)])
    }

    var application: String { String(decoding: texts[0], as: UTF8.self) }

    package func recordID(_ keys: VaultKeys) throws(VaultError) -> Identifier {
      var context = Context(label)
      for text in texts { context.appendCounted(text) }
      return try keys.systemRecordID(context)
    }
  }

  package let kind: Kind
  package let name: Name
  package let attributes: Attributes

  /// Returns nil for a rule of a later version.
  /// - Throws: `attributesMalformed`, `accessRuleMalformed`.
  init?(decoding bytes: [UInt8]) throws(VaultError) { try self.init(TLV.decode(bytes)) }

  /// Returns nil for a rule of a later version.
  /// - Throws: `accessRuleMalformed`.
  package init?(_ attributes: Attributes) throws(VaultError) {
    guard case .text(let text)? = attributes["rule"] else { throw VaultError(.accessRuleMalformed, "without its name") }
    guard let kind = Kind(rawValue: text) else { return nil }
    self.kind = kind
    self.attributes = attributes
    switch kind {
    case .pin: name = try Self.nameOfPin(attributes)
    case .grant: name = try Self.nameOfGrant(attributes)
    }
  }

  private static func nameOfPin(_ attributes: Attributes) throws(VaultError) -> Name {
    guard case .data(let key)? = attributes["team-key"], case .text(let text)? = attributes["identifier"],
      case .text? = attributes["name"], case .integer? = attributes["version"], case .time? = attributes["installed"],
      key.count == Ed25519.publicKeyByteCount, let identifier = try? AppIdentifier(text)
    else { throw VaultError(.accessRuleMalformed, "a pin") }
    switch attributes["removed"] {
    case nil, .time?: return .pin("\(TeamIdentifier(of: key)).\(identifier)")
    // A reader that took it for installed would give rights.
    default: throw VaultError(.accessRuleMalformed, "a pin")
    }
  }

  /// A right that this version does not know is malformed: to leave it out could be to allow more.
  private static func nameOfGrant(_ attributes: Attributes) throws(VaultError) -> Name {
    guard case .text(let application)? = attributes["application"], case .text(let text)? = attributes["group"],
      case .integer(let rights)? = attributes["rights"], case .integer(let confirm)? = attributes["confirm"],
      case .time? = attributes["created"], rights <= 7, confirm <= 1
    else { throw VaultError(.accessRuleMalformed, "a grant") }
    guard let group = try? AccessGroup(text) else { throw VaultError(.accessRuleMalformed, "a grant's group") }
    return .grant(application, group)
  }
}
