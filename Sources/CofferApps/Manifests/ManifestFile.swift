package import AccessRights
import CofferPropertyLists
import SecretMemory
package import VaultCore

/// A manifest as a person writes it: a property list, in which `$(TEAM)` stands for the team's name. It lists the executables
/// without their digests, which signing adds.
package struct ManifestFile: Sendable {
  /// The maximum size of a manifest, in bytes.
  package static let maximumByteCount = 1 << 20
  private static let teamMark = "$(TEAM)"

  enum Key {
    static let identifier = "Identifier"
    static let displayName = "DisplayName"
    static let version = "Version"
    static let team = "Team"
    static let executables = "Executables"
    static let path = "Path"
    static let role = "Role"
    static let keychainGroups = "keychain-access-groups"
    static let applicationGroups = "application-groups"
    static let store = "ubiquity-kvstore-identifier"
    static let teamKey = "TeamKey"
    static let signature = "Signature"
    static let digests = "Digests"

    static let written: Set = [identifier, displayName, version, team, executables, keychainGroups, applicationGroups, store]
    static let signed: Set = [teamKey, signature, digests]
  }

  package struct Executable: Sendable {
    package let path: String
    package let role: Manifest.Role
  }

  package let identifier: String
  package let displayName: String
  package let version: UInt64
  /// nil if the file does not name its team.
  package let team: String?
  package let executables: [Executable]
  private let keychainGroups: [String]
  private let applicationGroups: [String]
  private let store: String?
  /// The keys that only a signed manifest has.
  let signedPart: [String: PropertyListValue]

  /// - Throws: `AppsError`: `manifestUnreadable`, `manifestField`.
  package init(_ bytes: [UInt8]) throws(AppsError) {
    let value: PropertyListValue
    do {
      value = try PropertyList.read(bytes).value
    } catch {
      throw AppsError(.manifestUnreadable, "\(error.code.name)\(error.detail.isEmpty ? "" : ": \(error.detail)")")
    }
    guard case .dictionary(let dictionary) = value else { throw AppsError(.manifestUnreadable, "no dictionary") }
    try self.init(Fields(dictionary))
  }

  private init(_ fields: Fields) throws(AppsError) {
    try fields.refuseOthers(than: Key.written.union(Key.signed))
    identifier = try fields.text(Key.identifier)
    displayName = try fields.text(Key.displayName)
    version = try fields.natural(Key.version)
    team = try fields.optionalText(Key.team)
    var executables: [Executable] = []
    for entry in try fields.dictionaries(Key.executables) {
      try entry.refuseOthers(than: [Key.path, Key.role])
      let role = try entry.optionalText(Key.role) ?? "app"
      guard let known = Manifest.Role(name: role) else {
        throw AppsError(
          .manifestField, "\(Key.role): \(role) is none of \(Manifest.Role.allCases.map(\.name).joined(separator: ", "))")
      }
      let executable = Executable(path: try entry.text(Key.path), role: known)
      try executable.checkPath(besides: executables)
      executables.append(executable)
    }
    self.executables = executables
    keychainGroups = try fields.texts(Key.keychainGroups)
    applicationGroups = try fields.texts(Key.applicationGroups)
    store = try fields.optionalText(Key.store)
    signedPart = fields.values(of: Key.signed)
  }

  /// The team that the file names itself, instead of by `$(TEAM)`.
  /// - Throws: `teamMalformed`.
  package var namedTeam: TeamIdentifier? {
    get throws(VaultError) {
      guard let team, !team.utf8.elementsEqual(Self.teamMark.utf8) else { return nil }
      return try TeamIdentifier(team)
    }
  }

  package var isSigned: Bool { !signedPart.isEmpty }

  /// The manifest for a team, with the digests of the executables by path.
  /// - Throws: `VaultError` of the rules of manifests, and `manifestTeam` if the file names another team. `AppsError`:
  ///   `executableMissing` if a path has no digest.
  package func manifest(of team: TeamIdentifier, digests: [String: [UInt8]]) throws -> Manifest {
    if let named = self.team, !named.utf8.elementsEqual(Self.teamMark.utf8), !named.utf8.elementsEqual(team.text.utf8) {
      throw VaultError(.manifestTeam, "the file names \(named), the key is that of \(team)")
    }
    var complete: [Manifest.Executable] = []
    for executable in executables {
      guard let digest = digests[executable.path] else { throw AppsError(.executableMissing, "\(executable.path): no digest") }
      complete.append(.init(path: executable.path, role: executable.role, digest: digest))
    }
    func groups(_ names: [String]) throws -> [AccessGroup] { try names.map { try AccessGroup(Self.expanded($0, team)) } }
    let manifest = try Manifest(
      team: team, identifier: AppIdentifier(identifier), displayName: displayName, version: version, executables: complete,
      keychainAccessGroups: try groups(keychainGroups), applicationGroups: try groups(applicationGroups))
    _ = try store(of: manifest)
    return manifest
  }

  /// The name of the app's store of synchronised settings, see `NSUbiquitousKeyValueStore`; nil if the file names none.
  ///
  /// The signature does not cover the key. It covers each name that the key may have: that of the app, and those of its application
  /// groups. So a change of the file can choose among these, and cannot name the store of another app.
  /// - Parameter manifest: The manifest in the file.
  /// - Throws: `manifestField`, if it is another name.
  package func store(of manifest: Manifest) throws(AppsError) -> String? {
    guard let store = store.map({ Self.expanded($0, manifest.team) }) else { return nil }
    let names = [manifest.applicationIdentifier] + manifest.applicationGroups.map(\.name)
    guard names.contains(where: { $0.utf8.elementsEqual(store.utf8) }) else {
      throw AppsError(.manifestField, "\(Key.store): \(store) is none of \(names.joined(separator: ", "))")
    }
    return store
  }

  /// Replaces `$(TEAM)` at the beginning of a group's name.
  private static func expanded(_ name: String, _ team: TeamIdentifier) -> String {
    guard name.utf8.starts(with: teamMark.utf8) else { return name }
    return team.text + name.dropFirst(teamMark.count)
  }
}

extension ManifestFile.Executable {
  /// Refuses paths that could be signed, but not installed.
  fileprivate func checkPath(besides others: [Self]) throws(AppsError) {
    let manifest = SignedManifestFile.name
    guard path != manifest, !path.hasPrefix("\(manifest)/") else {
      throw AppsError(.manifestField, "\(ManifestFile.Key.executables): \(manifest) is the name of the manifest itself")
    }
    // Digests are stored by path; canonically equivalent paths would be the same key.
    if others.contains(where: { $0.path == path && !$0.path.utf8.elementsEqual(path.utf8) }) {
      throw AppsError(.manifestField, "\(ManifestFile.Key.executables): \(path) twice, its letters composed in another way")
    }
  }
}

extension Manifest.Role {
  package var name: String {
    switch self {
    case .app: "app"
    case .widget: "widget"
    case .intents: "intents"
    case .tool: "tool"
    }
  }

  init?(name: String) {
    guard let role = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
    self = role
  }
}
