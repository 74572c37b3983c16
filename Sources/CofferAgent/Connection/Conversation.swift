import AppContainers
import CLinux
import CofferApps
import CofferFiles
import CofferRequests
import CofferWire
import Glibc
import Pinentry
import VaultCore

/// One client, from its first request to the end of its connection.
struct Conversation: ~Copyable {
  let channel: FrameChannel
  let peer: Peer
  let shared: SharedState
  /// How often the vault had been locked when the owner has unlocked it here.
  private var ownedAt: UInt64?
  private var isEnding = false
  private let callers = CallerCache()
  let senderProof = SenderProof()
  /// The number of the request that was received last.
  private var request: UInt64 = 0
  /// How long it was.
  private var byteCount = 0
  private let ended: () -> Void

  /// What all conversations have in common.
  struct SharedState: Sendable {
    let vault: AgentVault
    let programs: any ProgramDirectory
    /// What the owner is served with besides; nil where that is done with the vault's file.
    let administration: VaultAdministration?
    /// The user whose vault it is.
    let user: UInt32
    let log: @Sendable (Gate.Facts, Gate.Decision, Peer) throws -> Void
    /// Ends the agent.
    let end: @Sendable () -> Void
    /// Nil: nobody is asked for anything.
    let questions: OwnerQuestions?
  }

  /// - Parameter ended: Called when it is over, before the descriptor is closed.
  init(_ channel: FrameChannel, _ peer: Peer, _ shared: SharedState, ended: @escaping () -> Void) {
    self.ended = ended
    self.channel = channel
    self.peer = peer
    self.shared = shared
  }

  /// Until the client closes, or sends what is no request.
  mutating func run() {
    defer { ended() }
    do {
      // A program that may ask nothing takes no place from others.
      while try isAnswered(), let (header, body) = try channel.receive(takes: { try !isRefused($0.operation) }) {
        (request, byteCount) = (header.request, header.bodyByteCount)
        guard !body.isDropped else {
          try refused(header.operation).frames(request: header.request) { try channel.send($0) }
          continue
        }
        let call = try Call.parse(header.operation, body.message())
        if header.operation == .watch { if try watch(header.request) { continue } else { return } }
        let answer = answer(header.operation, call)
        try answer.frames(request: header.request) { try channel.send($0) }
        if isEnding { shared.end() }
      }
    } catch FrameChannel.Failure.crowded(let request) {
      let error = KeychainError(.busy, "other programs have the memory for requests: nothing was done")
      try? Answer.failed(error).frames(request: request) { try channel.send($0) }
    } catch {
      // Whatever it is: there is nothing to say to who does not speak the protocol, or does not listen.
    }
  }

  /// By the operation alone, before the body is there. What the group has to say is found out afterwards.
  private func isRefused(_ operation: CofferWire.Operation) throws -> Bool {
    if case .refuse = Gate.decide(try facts(operation, isSenderProven: true)) { true } else { false }
  }

  /// What became of a request whose body was dropped.
  private func refused(_ operation: CofferWire.Operation) -> Answer {
    do {
      let facts = try facts(operation, isSenderProven: true)
      // It has become a program that may ask.
      guard case .refuse(let code, let rule) = Gate.decide(facts) else { return .challenge(try senderProof.challenge(facts)) }
      try log(facts, .refuse(code: code, rule: rule))
      return .failed(Self.refusal(code, rule))
    } catch {
      return .failed(KeychainError(error))
    }
  }

  /// A refusal of the gate as the client reads it. A locked vault is locked for every program.
  private static func refusal(_ code: KeychainError.Code, _ rule: String) -> KeychainError {
    KeychainError(code, cause: code == .locked ? .code : .gate, rule)
  }

  /// Receives the response to a challenge, if one was sent.
  /// - Returns: False if the connection is over.
  private func isAnswered() throws -> Bool {
    guard let pending = senderProof.pending else { return true }
    guard let isResponse = try channel.receiveWithDescriptor(pending.challenge.response()) else { return false }
    guard isResponse else {
      let rule = "the program did not return the number of the challenge"
      try log(pending.facts, .refuse(code: .missingEntitlement, rule: rule))
      try Answer.failed(Self.refusal(.missingEntitlement, rule)).frames(request: request) { try channel.send($0) }
      return false
    }
    senderProof.complete(try program())
    return true
  }

  /// What goes wrong is an answer.
  private mutating func answer(_ operation: CofferWire.Operation, _ call: consuming Call) -> Answer {
    do {
      return try decided(operation, call)
    } catch {
      return .failed(KeychainError(error))
    }
  }

  private mutating func decided(_ operation: CofferWire.Operation, _ call: consuming Call) throws -> Answer {
    let facts = try facts(operation, call.group, call.item)
    let decision = Gate.decide(facts)
    switch decision {
    case .challenge: return .challenge(try senderProof.challenge(facts))
    case .refuse(let code, let rule):
      try log(facts, decision)
      return .failed(Self.refusal(code, rule))
    case .allow(let name):
      do {
        return try done(call, as: name, facts)
      } catch {
        let error = KeychainError(error)
        // The gate lets the program in; what it may do there says the vault, and that is the decision.
        if error.code.isRefusal {
          try log(facts, .refuse(code: error.code, rule: error.detail))
        }
        throw error
      }
    }
  }

  /// What cannot be logged is not done. But who wants the keys forgotten is not kept from that by a disk that is full.
  func log(_ facts: Gate.Facts, _ decision: Gate.Decision) throws { try Self.log(facts, decision, peer, shared) }

  private static func log(_ facts: Gate.Facts, _ decision: Gate.Decision, _ peer: Peer, _ shared: SharedState) throws {
    do {
      try shared.log(facts, decision, peer)
    } catch {
      guard ![.lock, .end].contains(facts.operation) else { return }
      let reason = (error as? FileError).map { "\($0.code.name): \($0.detail)" } ?? "\(error)"
      throw KeychainError(.storage, cause: .auditLog, reason)
    }
  }

  /// What is known now.
  /// - Parameter isSenderProven: Else it is found out.
  func facts(
    _ operation: CofferWire.Operation, _ group: AccessGroup? = nil, _ item: Identifier? = nil, isSenderProven: Bool = false
  ) throws -> Gate.Facts {
    let program = try program()
    let isGranted = if case .program = program, let name = program.grantedName { shared.vault.hasGrant(to: name) } else { false }
    return Gate.Facts(
      operation: operation, program: program, isSameUser: peer.user == shared.user,
      isOwner: ownedAt == shared.vault.lockCount, wasUnlocked: shared.vault.status.wasUnlocked,
      isSystem: shared.administration != nil, isSenderProven: isSenderProven || senderProof.covers(program), isGranted: isGranted,
      group: group, item: item)
  }

  private func program() throws -> ProgramIdentity {
    do {
      return try shared.programs.identify(peer)
    } catch is Peer.Failure {
      return .unknown("it has ended")
    } catch let error as FileError {
      // So there are no apps; the vault can be locked all the same.
      return .unknown("the installed apps cannot be read: \(error.detail)")
    }
  }

  /// Logs that it is allowed, once nothing but the doing is left, and does it: a program that is refused has no entry but the refusal.
  private mutating func done(_ call: consuming Call, as name: Gate.As, _ facts: Gate.Facts) throws -> Answer {
    let program = facts.program
    let allowed = { [shared, peer] (new: Reference?) in
      var facts = facts
      if let new { (facts.group, facts.item) = (new.group, new.id) }
      try Self.log(facts, .allow(name), peer, shared)
    }
    switch consume call {
    case .status: return .status(shared.vault.status)
    case .lock:
      try allowed(nil)
      shared.vault.lock()
      return .done
    case .end:
      try allowed(nil)
      // Who hears that it is done may copy the vault's file.
      shared.vault.end()
      isEnding = true
      return .done
    case .unlock(let credential, let display):
      let display = try Self.display(display)
      let count = try shared.vault.unlock(credential) { try allowed(nil) }
      ownedAt = try credential.slotType != .keyFile || shared.administration?.hasKeyFilesAlone() ?? false ? count : nil
      if ownedAt != nil { shared.questions?.ownerIs(at: display) }
      return .done
    case .inspect:
      try allowed(nil)
      return .rows(try shared.vault.inspect().wireRows)
    case .vault(let call):
      guard let administration = shared.administration else { throw KeychainError(.notAllowed) }
      return try administration.answer(call, &ownedAt) { try allowed(nil) }
    case .apps(.log):
      try allowed(nil)
      return .rows(try shared.administration?.logOutline() ?? [])
    case .apps(.logPart(let ring, let first, let offset)):
      return .rows(try shared.administration?.logPart(ring, first, offset) ?? [])
    case .apps(.leases):
      try allowed(nil)
      return .rows(try shared.leases().map(\.wireRow))
    case .apps(.endLease(let number)):
      guard try shared.leases().contains(where: { $0.number == number }) else {
        throw KeychainError(.notFound, "lease \(number)")
      }
      try allowed(nil)
      shared.questions?.endLease(number)
      return .done
    case .apps(let call):
      guard let administration = shared.administration, name == .owner else {
        try allowed(nil)
        return try shared.vault.rules(call)
      }
      try allowed(nil)
      return try administration.answer(call)
    case let call:
      return try shared.vault.answer(call, byteCount: byteCount) { (vault, rules) in
        try callers.caller(name, in: vault, at: rules) { try caller(name, in: $0) }
      } confirm: { confirmation, lockCount in
        try confirm(confirmation, program, lockCount)
      } allowed: {
        try allowed($0)
      }
    }
  }

  private func confirm(_ confirmation: Confirmation, _ program: ProgramIdentity, _ lockCount: UInt64) throws {
    guard let questions = shared.questions else { throw KeychainError(.confirmationNeeded, confirmation.group.name) }
    try questions.confirm(confirmation, of: program, peer, lockCount: lockCount, connection: channel.descriptor)
    // An answer takes a while, and it was given about this program.
    guard try self.program() == program else { throw KeychainError(.confirmationNeeded, "the program has become another one") }
  }

  private static func display(_ fields: Attributes) throws -> Display {
    do { return try Display(fields: fields) } catch { throw KeychainError(.notAllowed, "a display or terminal: \(error.detail)") }
  }

  func caller(_ name: Gate.As, in vault: borrowing Vault) throws -> Caller {
    switch name {
    case .anybody, .owner: return .owner
    case .command: return try .command(in: vault)
    case .granted(let program): return try .granted(to: program, in: vault)
    case .app(let application):
      // An older manifest of the team's, put in the place of the one that was installed, may give more.
      guard let signed = try shared.programs.manifest(of: application),
        try vault.pin(application)?.version == signed.manifest.version
      else { throw KeychainError(.appNotInstalled, application) }
      return try Caller(signed, in: vault)
    }
  }
}
