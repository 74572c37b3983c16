import AccessRights
import ArgumentParser
import CofferConsole
import VaultCore

/// The rights that a grant gives.
struct GrantOptions: ParsableArguments {
  @Flag(help: "It may read secrets.")
  var read = false

  @Flag(help: "It may add, change and remove items.")
  var write = false

  @Flag(help: "It may see which items there are.")
  var list = false

  @Flag(help: "Ask each time.")
  var confirm = false

  /// Empty if none is named.
  var rights: Entitlements.Rights {
    var rights: Entitlements.Rights = []
    if read { rights.insert(.read) }
    if write { rights.insert(.write) }
    if list { rights.insert(.list) }
    return rights
  }
}

/// A grant that a command makes: `coffer app grant` or `coffer access allow`.
struct GrantRequest {
  /// For messages.
  let verb: String
  let group: AccessGroup
  let rights: Entitlements.Rights
  let asksForConfirmation: Bool
  /// A hint if the group does not exist; nil if it may be made later.
  let groupHint: String?

  /// Checks, logs and stores the grant.
  /// - Parameters:
  ///   - audit: Names the program already if a refusal before `program` returns is to have it.
  ///   - program: Checks the program, and returns its name in the grant.
  ///   - agree: The last check, after all others. Throws if the owner does not agree.
  func grant(
    _ vault: any OwnedVault, _ audit: AppAudit, to program: (borrowing OpenApps) throws -> String, agree: () throws -> Void
  ) throws -> Grant {
    var audit = audit
    var opened = try vault.apps(isReading: false)
    try audit.deciding { try opened.checkIsOwner(verb, "lets them in") }
    let name = try audit.deciding { try program(opened) }
    audit.application = name
    try audit.deciding {
      if let groupHint { try opened.checkExists(group, hint: groupHint) }
      try agree()
    }
    let grant = Grant(to: name, group, rights, asksForConfirmation: asksForConfirmation, at: .now())
    try about(name) { try audit.doing { try opened.put(grant) } }
    opened.finish()
    return grant
  }
}
