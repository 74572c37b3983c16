public import SecretMemory
public import VaultCore

/// Which access groups a caller may use, in order, and what it may do with their items. A value: to ask it is to look at nothing
/// else.
///
/// The rules are those of Apple's published Security framework (`SecItem`): without a group a new item goes into the first one
/// and a query looks in all of them; a group that the caller does not hold is refused by name, and never "not found".
public struct Entitlements: Sendable, Equatable {
  /// The rights to a group.
  public struct Rights: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The secret of an item.
    public static let read = Rights(rawValue: 1)
    /// To add, change and remove items.
    public static let write = Rights(rawValue: 2)
    /// Permits listing items with their attributes.
    public static let list = Rights(rawValue: 4)
    /// The rights to read, write and list.
    public static let all: Rights = [.read, .write, .list]
  }

  /// A group with the rights to it.
  public struct Group: Sendable, Equatable {
    /// The group.
    public let group: AccessGroup
    /// The rights to it.
    public let rights: Rights
    /// Those of them for which the owner is asked each time.
    public let confirmedRights: Rights

    /// A group with rights to it.
    public init(_ group: AccessGroup, _ rights: Rights, confirmed confirmedRights: Rights = []) {
      self.group = group
      self.rights = rights
      self.confirmedRights = confirmedRights.intersection(rights)
    }

    /// The union of the rights of both.
    func union(_ other: Group) -> Group {
      let free = rights.subtracting(confirmedRights).union(other.rights.subtracting(other.confirmedRights))
      let all = rights.union(other.rights)
      return Group(group, all, confirmed: all.subtracting(free))
    }
  }

  /// In order, each group once.
  public let groups: [Group]

  /// The rights to these groups, in their order.
  public init(_ groups: [Group]) {
    var unique: [Group] = []
    for group in groups {
      if let index = unique.firstIndex(where: { $0.group == group.group }) {
        unique[index] = unique[index].union(group)
      } else {
        unique.append(group)
      }
    }
    self.groups = unique
  }

  /// Those that an app has by its manifest: its keychain access groups, its own group, its application groups; then what it was
  /// granted.
  public init(_ manifest: Manifest, granted: [Group] = []) {
    let own = AccessGroup(ownGroupOf: manifest)
    let held = manifest.keychainAccessGroups + [own] + manifest.applicationGroups
    self.init(held.map { Group($0, .all) } + granted)
  }

  /// Everything in one list of groups, for the owner of the vault.
  public init(all groups: [AccessGroup]) { self.init(groups.map { Group($0, .all) }) }

  /// - Parameter group: Nil stands for the first one that the caller may write to.
  /// - Throws: `missingEntitlement`.
  public func groupForAdding(_ group: AccessGroup?) throws(VaultError) -> AccessGroup {
    if let group { return try check(group, .write) }
    guard let first = groups.first(where: { $0.rights.contains(.write) }) else {
      throw VaultError(.missingEntitlement, "no group to write to")
    }
    return first.group
  }

  /// The groups in which the caller has rights.
  /// - Parameters:
  ///   - rights: All of these are needed.
  ///   - group: Nil stands for all groups of the caller.
  /// - Throws: `missingEntitlement` for a group by name.
  public func groups(for rights: Rights, in group: AccessGroup?) throws(VaultError) -> [AccessGroup] {
    if let group { return [try check(group, rights)] }
    return groups.filter { $0.rights.isSuperset(of: rights) }.map(\.group)
  }

  /// - Returns: The group.
  /// - Throws: `missingEntitlement`, naming the group.
  @discardableResult public func check(_ group: AccessGroup, _ rights: Rights) throws(VaultError) -> AccessGroup {
    guard let held = groups.first(where: { $0.group == group }) else { throw VaultError(.missingEntitlement, group.name) }
    guard held.rights.isSuperset(of: rights) else {
      throw VaultError(.missingEntitlement, "\(group.name): no right to \(rights.subtracting(held.rights).names)")
    }
    return group
  }

  /// Whether the owner is to be asked before a caller that passes `check` uses these rights.
  public func needsConfirmation(_ group: AccessGroup, _ rights: Rights) -> Bool {
    groups.contains { $0.group == group && !$0.confirmedRights.isDisjoint(with: rights) }
  }
}

extension Entitlements.Rights {
  /// For messages: "read, list".
  public var names: String {
    [(Self.read, "read"), (.write, "write"), (.list, "list")].filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}

extension AccessGroup {
  /// `TEAM.identifier`.
  init(ownGroupOf manifest: Manifest) { self.init(unchecked: manifest.applicationIdentifier) }
}
