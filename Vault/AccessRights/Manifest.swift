public import SecretMemory
public import VaultCore

/// The signed description of an app by its team: its name, its programs, and the groups that they may use.
///
/// Immutable, and checked on creation: each rule has an error of its own. Section 8.8 of FORMAT.md has the signed bytes.
public struct Manifest: Sendable, Equatable {
  /// The number of executables that a manifest may list.
  public static let maximumExecutableCount = 64
  /// The number of groups that a manifest may list, of each kind.
  public static let maximumGroupCount = 64
  /// In bytes of UTF-8.
  public static let maximumDisplayNameByteCount = 255

  /// The role of a program of an app.
  public enum Role: UInt8, Sendable, CaseIterable {
    /// The app itself.
    case app = 1
    /// A program that shows widgets.
    case widget = 2
    /// A program that handles intents.
    case intents = 3
    /// A command.
    case tool = 4
  }

  /// One program, known by its content.
  public struct Executable: Sendable, Equatable {
    /// Below the app's directory, without `..` and `.`: `bin/editor`.
    public let path: String
    /// The purpose of the executable.
    public let role: Role
    /// BLAKE2b-256 of the file.
    public let digest: [UInt8]

    /// Checked by the manifest that it is put into.
    public init(path: String, role: Role, digest: [UInt8]) {
      self.path = path
      self.role = role
      self.digest = digest
    }
  }

  /// The team that signs the manifest.
  public let team: TeamIdentifier
  /// The app's identifier, without the team.
  public let identifier: AppIdentifier
  /// The name that people see.
  public let displayName: String
  /// Grows with each release. From 1.
  public let version: UInt64
  /// In the order of their paths.
  public let executables: [Executable]
  /// In the order of the manifest; the first is where items without a group go.
  public let keychainAccessGroups: [AccessGroup]
  /// The groups with a container that the app shares with other apps of its team.
  public let applicationGroups: [AccessGroup]

  /// - Throws: `manifestVersion`, `manifestName`, `manifestExecutable` (none, too many, a path or digest that cannot be, two
  ///   with one path), `manifestGroup` (another team's, too many, named twice).
  public init(
    team: TeamIdentifier, identifier: AppIdentifier, displayName: String, version: UInt64, executables: [Executable],
    keychainAccessGroups: [AccessGroup] = [], applicationGroups: [AccessGroup] = []
  ) throws(VaultError) {
    guard version > 0 else { throw VaultError(.manifestVersion, "0") }
    guard !displayName.isEmpty, displayName.utf8.count <= Self.maximumDisplayNameByteCount, !displayName.hasControlCharacter
    else {
      throw VaultError(
        .manifestName, "a display name has 1 to \(Self.maximumDisplayNameByteCount) bytes, and no control characters")
    }
    self.team = team
    self.identifier = identifier
    self.displayName = displayName
    self.version = version
    self.executables = try Self.checked(executables)
    self.keychainAccessGroups = try Self.checked(keychainAccessGroups, team)
    self.applicationGroups = try Self.checked(applicationGroups, team)
    // Each is the name of a directory.
    if let group = applicationGroups.first(where: { $0.name.utf8.contains(UInt8(ascii: "/")) }) {
      throw VaultError(.manifestGroup, "\(group): an application group has no /")
    }
  }

  private static func checked(_ executables: [Executable]) throws(VaultError) -> [Executable] {
    guard (1...maximumExecutableCount).contains(executables.count) else {
      throw VaultError(.manifestExecutable, "1 to \(maximumExecutableCount) of them")
    }
    let ordered = executables.sorted { $0.path.order($1.path) < 0 }
    for (index, executable) in ordered.enumerated() {
      guard isPath(executable.path) else { throw VaultError(.manifestExecutable, "\(executable.path): no path inside the app") }
      guard executable.digest.count == ContentDigest.byteCount else {
        throw VaultError(.manifestExecutable, "\(executable.path): a digest has \(ContentDigest.byteCount) bytes")
      }
      guard index == 0 || ordered[index - 1].path.order(executable.path) != 0 else {
        throw VaultError(.manifestExecutable, "\(executable.path): twice")
      }
    }
    return ordered
  }

  /// Relative, with no empty part, `.` or `..`.
  private static func isPath(_ path: String) -> Bool {
    guard (1...1024).contains(path.utf8.count), !path.hasControlCharacter else { return false }
    return path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { part in
      !part.isEmpty && part.count <= 255 && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
    }
  }

  private static func checked(_ groups: [AccessGroup], _ team: TeamIdentifier) throws(VaultError) -> [AccessGroup] {
    guard groups.count <= maximumGroupCount else { throw VaultError(.manifestGroup, "at most \(maximumGroupCount)") }
    for (index, group) in groups.enumerated() {
      guard group.isOf(team) else { throw VaultError(.manifestGroup, "\(group): does not begin with \(team).") }
      guard !groups[..<index].contains(group) else { throw VaultError(.manifestGroup, "\(group): twice") }
    }
    return groups
  }

  /// `TEAM.identifier`: the name of the app, and of the group that is its own.
  public var applicationIdentifier: String { "\(team).\(identifier)" }
}

extension AccessGroup {
  /// Whether it is a group that the team may give to its apps: `TEAM.` and a name.
  public func isOf(_ team: TeamIdentifier) -> Bool {
    name.utf8.starts(with: "\(team).".utf8) && name.utf8.count > team.text.utf8.count + 1
  }
}
