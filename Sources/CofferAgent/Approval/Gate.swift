package import CofferRequests
package import VaultCore

/// Decides whether a request is allowed. A pure function of its arguments; every request passes through it.
package enum Gate {
  /// The facts about a request that has arrived.
  package struct Facts: Equatable, Sendable {
    package var operation: Request.Kind
    package var program: ProgramIdentity
    /// Whether the user of the process is the one whose vault it is.
    package var isSameUser: Bool
    /// Whether that user is root.
    package var isRoot: Bool
    /// Whether the vault was unlocked with a passphrase or the recovery key over this very connection, and not locked since.
    package var isOwner: Bool
    /// Whether it was unlocked since the agent started. The vault decides which requests are answered after a lock.
    package var wasUnlocked: Bool
    /// Whether the agent runs under a user of its own, who keeps the vault and the apps.
    package var isSystem: Bool
    /// Whether that program has returned the number of a challenge on this connection. See `SenderProof`.
    package var isSenderProven: Bool
    /// Whether the vault has a grant for exactly this program. Asked only of a program that nothing else lets in.
    package var isGranted: Bool
    /// The group concerned, for the log. The vault decides about the rights to it.
    package var group: AccessGroup?
    /// Likewise.
    package var item: Identifier?
    /// The program that the request is for, if it names one.
    package var client: Client?
    /// For the log: the part of the request that the operation and the group leave out.
    package var note = ""

    package init(
      operation: Request.Kind, program: ProgramIdentity, isSameUser: Bool = true, isRoot: Bool = false, isOwner: Bool = false,
      wasUnlocked: Bool = true,
      isSystem: Bool = false, isSenderProven: Bool = true, isGranted: Bool = false,
      group: AccessGroup? = nil, item: Identifier? = nil
    ) {
      self.operation = operation
      self.program = program
      self.isSameUser = isSameUser
      self.isRoot = isRoot
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
    case allow(Role)
    case refuse(code: KeychainError.Code, rule: String)
    /// The client has to return a number first, and send the request again.
    case challenge

    /// A refusal as the client reads it. A locked vault is locked for every program.
    var error: KeychainError {
      guard case .refuse(let code, let rule) = self else { return KeychainError(.notAllowed) }
      return KeychainError(code, cause: code == .locked ? .code : .gate, rule)
    }
  }

  /// The rights that count.
  package enum Role: Equatable, Sendable {
    /// None: it concerns no item.
    case anybody
    case owner
    /// Those of the program in the facts. The vault decides what they are.
    case program
  }

  package static func decide(_ facts: Facts) -> Decision {
    guard facts.isSameUser || facts.isRoot && facts.operation.traits.isOpenToRoot else {
      return .refuse(code: .missingEntitlement, rule: "another user")
    }
    guard facts.client == nil || facts.program == .own(.secretService) else {
      return .refuse(code: .missingEntitlement, rule: "only coffer-secrets asks for another program")
    }
    switch facts.operation.traits.access {
    case .everybody: return .allow(.anybody)
    case .everybodyOfUserAgent:
      return facts.isSystem ? .refuse(code: .notAllowed, rule: "the service manager ends it") : .allow(.anybody)
    case .credential: return facts.isSystem ? .allow(.anybody) : byFile
    case .shown: return shown(facts)
    case .shownBySystem: return facts.isSystem ? shown(facts) : byFile
    case .owner:
      guard facts.isSystem else { return byFile }
      return facts.isOwner ? .allow(.owner) : .refuse(code: .missingEntitlement, rule: "only the owner")
    case .rights: return facts.wasUnlocked ? withRights(facts) : neverUnlocked
    case .rightsWhileLocked: return withRights(facts)
    }
  }

  private static func withRights(_ facts: Facts) -> Decision {
    if facts.isOwner { return .allow(.owner) }
    switch facts.program {
    case .app, .command: return facts.isSenderProven ? .allow(.program) : .challenge
    case .program(let path, _):
      guard facts.isGranted else { return .refuse(code: .missingEntitlement, rule: "no app: \(path)") }
      return facts.isSenderProven ? .allow(.program) : .challenge
    case .own(let program):
      guard program.operations.contains(facts.operation) else {
        return .refuse(code: .missingEntitlement, rule: "not a request of \(program.rawValue)")
      }
      return facts.isSenderProven ? .allow(.program) : .challenge
    // A process does not come into a service or a sandbox, and gets no other one.
    case .unit, .flatpak: return .allow(.program)
    case .interpreter:
      return .refuse(code: .missingEntitlement, rule: "no app: an interpreter, which runs any script")
    case .unknown(let why): return .refuse(code: .missingEntitlement, rule: "no app: \(why)")
    case .client: return .refuse(code: .missingEntitlement, rule: "no app: another program asks for it")
    }
  }

  private static func shown(_ facts: Facts) -> Decision {
    guard facts.wasUnlocked else { return neverUnlocked }
    if facts.isOwner { return .allow(.owner) }
    guard facts.program == .command else { return .refuse(code: .missingEntitlement, rule: "only the owner, or coffer") }
    return facts.isSenderProven ? .allow(.program) : .challenge
  }

  private static let neverUnlocked = Decision.refuse(code: .locked, rule: "never unlocked")
  private static let byFile = Decision.refuse(code: .notAllowed, rule: "done with the vault's file")
}
