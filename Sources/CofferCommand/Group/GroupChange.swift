import Coffer
import CofferConsole
import CofferRequests
import SecretMemory
import VaultCore
import VaultUpkeep

/// A change of a group by its owner: checked, logged, done.
struct GroupChange {
  private let verb: AppAudit.Verb
  private let group: AccessGroup

  /// - Throws: usage, for a name that no group can have.
  init(_ verb: AppAudit.Verb, _ name: String) throws {
    self.verb = verb
    group = try Self.group(name)
  }

  static func group(_ name: String) throws -> AccessGroup { try CofferConsole.about("group \(name)") { try AccessGroup(name) } }

  /// - Parameter request: Gets the group, and what is in it if it asks for that. An error that it throws is a refusal.
  func run(
    _ vault: VaultOptions, _ request: (AccessGroup, _ contents: () throws -> GroupContents?) throws -> GroupRequest
  ) throws {
    var audit = try AppAudit(verb)
    audit.group = group.name
    var opened = try vault.ownedVault().apps(isReading: false)
    audit.came(to: opened)
    let wanted = try audit.deciding {
      try opened.checkIsOwner("group", "changes groups")
      return try request(group) { try opened.groupContents().first { $0.group == group } }
    }
    try CofferConsole.about("group \(group.name)") {
      try audit.decidingAndDoing(wanted.note) { allowed in try opened.change(wanted, allowed) }
    }
    opened.finish()
  }
}

extension OpenApps {
  /// The groups that the command may list.
  borrowing func groupContents() throws -> [GroupContents] {
    let isOwner = isOwner
    return try reading(
      { try $0.groupContents() },
      { try GroupService(isOwner ? .owner : .command(in: $0), at: .now()).contents(in: $0) })
  }

  fileprivate mutating func change(_ request: GroupRequest, _ allowed: () throws -> Void) throws {
    try changing(
      { keychain in
        // The agent decides: an error after this is its refusal, or its failure.
        try allowed()
        try keychain.change(request)
      }, { _ = try GroupService(.owner, at: .now()).carryOut(request, in: &$0, allowed: allowed) })
  }
}
