package import CofferRequests
package import CofferWire
package import VaultCore

/// Who may ask what. A pure function: it looks at nothing but what it is given, and everything that is asked goes through it.
package enum Gate {
  /// What is known when a request has arrived.
  package struct Facts: Equatable, Sendable {
    package var operation: Operation
    package var program: ProgramIdentity
    /// Whether the user of the process is the one whose vault it is.
    package var isSameUser: Bool
    /// Whether somebody has unlocked the vault with a passphrase or the recovery key over this very connection, and it was not locked since.
    package var isOwner: Bool
    /// Since the agent runs. What a vault that was locked again still answers, says the vault.
    package var wasUnlocked: Bool
    /// Whether the agent runs under a user of its own, who keeps the vault and the apps.
    package var isSystem: Bool
    /// Whether that program has returned the number of a challenge on this connection. See `SenderProof`.
    package var isSenderProven: Bool
    /// Whether the vault has a grant for exactly this program. Asked only of a program that nothing else lets in.
    package var isGranted: Bool
    /// What it concerns, for the log. Who may do what with it, says the vault.
    package var group: AccessGroup?
    /// Likewise.
    package var item: Identifier?

    package init(
      operation: Operation, program: ProgramIdentity, isSameUser: Bool = true, isOwner: Bool = false, wasUnlocked: Bool = true,
      isSystem: Bool = false, isSenderProven: Bool = true, isGranted: Bool = false,
      group: AccessGroup? = nil, item: Identifier? = nil
    ) {
      self.operation = operation
      self.program = program
      self.isSameUser = isSameUser
      self.isOwner = isOwner
      self.wasUnlocked = wasUnlocked
      self.isSystem = isSystem
      self.isSenderProven = isSenderProven
      self.isGranted = isGranted
      self.group = group
      self.item = item
    }
  }

  package enum Decision: Equatable, Sendable {
    case allow(As)
    case refuse(code: KeychainError.Code, rule: String)
    /// The client has to return a number first, and send the request again.
    case challenge
  }

  /// In whose name it is done.
  package enum As: Equatable, Sendable {
    /// It concerns no item.
    case anybody
    case owner
    case command
    /// `TEAM.identifier`. Whether the vault knows it, and what it may do, says the vault.
    case app(String)
    /// What the owner has granted to it by its name, and nothing else.
    case granted(GrantedProgram)
  }

  package static func decide(_ facts: Facts) -> Decision {
    guard facts.isSameUser else { return .refuse(code: .missingEntitlement, rule: "another user") }
    switch facts.operation {
    // The salts of a vault are no secret, and whoever wants to unlock it derives its key with them.
    case .status, .lock, .unlock, .inspect: return .allow(.anybody)
    // Who has it ended ends it for all of the user's programs; its service manager does that.
    case .end: return facts.isSystem ? .refuse(code: .notAllowed, rule: "the service manager ends it") : .allow(.anybody)
    // To make a vault needs no proof, and to change a way into it comes with one.
    case .create, .addSlot, .replaceSlot, .removeSlot: return facts.isSystem ? .allow(.anybody) : byFile
    // Which apps there are and what they may do, the command shows to whoever starts it while the vault is unlocked; to end a lease takes
    // a right away.
    case .pins, .grants, .leases, .endLease: return shown(facts)
    case .log, .logPart:
      guard facts.isSystem else { return byFile }
      return shown(facts)
    case .install, .uninstall, .itemCount, .forget, .grant, .revoke:
      guard facts.isSystem else { return byFile }
      return facts.isOwner ? .allow(.owner) : .refuse(code: .missingEntitlement, rule: "only the owner")
    case .introduce, .done, .part, .failed, .notices, .challenge: return .refuse(code: .notAllowed, rule: "no request")
    // Also to hear when it is unlocked.
    case .watch: break
    case .entitlements, .items, .entry, .secret, .add, .update, .move, .remove, .contains, .discard:
      guard facts.wasUnlocked else { return .refuse(code: .locked, rule: "never unlocked") }
    }
    if facts.isOwner { return .allow(.owner) }
    switch facts.program {
    case .app, .command: guard facts.isSenderProven else { return .challenge }
    case .program(let path, _):
      guard facts.isGranted else { return .refuse(code: .missingEntitlement, rule: "no app: \(path)") }
      guard facts.isSenderProven else { return .challenge }
    // A process does not come into a service or a sandbox, and gets no other one.
    case .unit, .flatpak, .interpreter, .unknown: break
    }
    switch facts.program {
    case .app(let application): return .allow(.app(application))
    case .command: return .allow(.command)
    case .flatpak(let identifier): return .allow(.granted(.flatpak(identifier)))
    case .unit(let name): return .allow(.granted(.unit(name)))
    case .program(_, let digest): return .allow(.granted(.program(digest)))
    case .interpreter: return .refuse(code: .missingEntitlement, rule: "no app: an interpreter, which runs any script")
    case .unknown(let why): return .refuse(code: .missingEntitlement, rule: "no app: \(why)")
    }
  }

  private static func shown(_ facts: Facts) -> Decision {
    guard facts.wasUnlocked else { return .refuse(code: .locked, rule: "never unlocked") }
    if facts.isOwner { return .allow(.owner) }
    guard facts.program == .command else { return .refuse(code: .missingEntitlement, rule: "only the owner, or coffer") }
    return facts.isSenderProven ? .allow(.command) : .challenge
  }

  private static let byFile = Decision.refuse(code: .notAllowed, rule: "done with the vault's file")
}
