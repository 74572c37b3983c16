import AccessRights
import AppContainers
import CLinux
import CofferApps
import CofferFiles
import CofferRequests
import CofferWire
import Glibc
import Pinentry
import SecretMemory
import VaultCore

/// One client, from its first request to the end of its connection.
struct Conversation: ~Copyable {
  let channel: FrameChannel
  let peer: Peer
  let shared: SharedState
  /// How often the vault had been locked when the owner has unlocked it here.
  var ownedAt: UInt64?
  var isEnding = false
  let callers = CallerCache()
  let senderProof = SenderProof()
  private let named = NamedPeer()
  /// The number of the request that was received last.
  private(set) var number: UInt64 = 0
  /// How long it was.
  private(set) var byteCount = 0
  private let ended: () -> Void

  /// The state that all conversations share.
  struct SharedState: Sendable {
    let vault: AgentVault
    let programs: any ProgramDirectory
    /// Serves the owner's requests that are not about items; nil if the command does these with the vault's file.
    let administration: VaultAdministration?
    /// The user whose vault it is.
    let user: UInt32
    let log: @Sendable (Gate.Facts, Gate.Decision, Peer) throws -> Void
    /// Logs bytes that are not a request.
    let logFault: @Sendable (WireError, ProgramIdentity, Peer) throws -> Void
    /// Ends the agent.
    let end: @Sendable () -> Void
    /// nil: the owner is asked nothing.
    let questions: OwnerQuestions?

    /// A request that cannot be logged is not done. But the keys are forgotten on request even if the disk is full.
    func append(_ facts: Gate.Facts, _ decision: Gate.Decision, _ peer: Peer) throws {
      do {
        try log(facts, decision, facts.client?.peer ?? peer)
      } catch {
        guard facts.operation != .lock, facts.operation != .end else { return }
        let reason = (error as? FileError).map { "\($0.code.name): \($0.detail)" } ?? "\(error)"
        throw KeychainError(.storage, cause: .auditLog, reason)
      }
    }
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
      while try isAnswered(), var frame = try channel.receive(takes: { try !isRefused($0) }) {
        (number, byteCount) = (frame.header.request, frame.header.bodyByteCount)
        guard var message = frame.message.take() else {
          try send(refused(frame.header))
          continue
        }
        guard case .request(let kind) = frame.header.kind else { throw Self.isNoRequest(frame.header) }
        let client = try message.takeClient()
        let request = try Request.parse(kind, message)
        if kind == .watch { if try watch() { continue } else { return } }
        let answer: Answer
        do {
          answer = try decided(request, kind, for: client)
        } catch  where !Self.endsConnection(error) {
          try send(error)
          continue
        }
        try answer.frames(request: number) { try channel.send($0) }
        if isEnding { shared.end() }
      }
    } catch FrameChannel.Failure.crowded(let request) {
      let error = KeychainError(.busy, "other programs have the memory for requests: nothing was done")
      try? channel.send(error.frame(request: request))
    } catch let fault as WireError {
      // No answer: the client does not speak the protocol, and the start of its next frame is unknown.
      try? shared.logFault(fault, program(), peer)
    } catch {
      // The client does not listen, or has gone.
    }
  }

  /// Whether the client has gone in the middle of a request, or has sent something else than was expected there.
  private static func endsConnection(_ error: any Error) -> Bool { error is FrameChannel.Failure || error is WireError }

  /// Decides by the header alone, before the body is there. The vault is asked about the group afterwards.
  /// - Throws: `WireError`: `operation`.
  private func isRefused(_ header: FrameHeader) throws -> Bool {
    if case .refuse = try Gate.decide(facts(of: header)) { true } else { false }
  }

  private static func isNoRequest(_ header: FrameHeader) -> WireError {
    WireError(.operation, "\(header.kind) is not a request")
  }

  private func facts(of header: FrameHeader) throws -> Gate.Facts {
    guard case .request(let kind) = header.kind else { throw Self.isNoRequest(header) }
    return try facts(kind, isSenderProven: true)
  }

  /// The answer to a request whose body was dropped.
  private func refused(_ header: FrameHeader) -> any Error {
    do {
      let facts = try facts(of: header)
      let decision = Gate.decide(facts)
      // It has become a program that may ask.
      guard case .refuse = decision else { return try senderProof.challenge(facts) }
      try shared.append(facts, decision, peer)
      return decision.error
    } catch {
      return error
    }
  }

  /// Receives the response to a challenge, if one was sent.
  /// - Returns: False if the connection is over.
  private func isAnswered() throws -> Bool {
    guard let pending = senderProof.pending else { return true }
    switch try channel.receiveDescriptor(with: pending.challenge.response()) {
    case .descriptor: break
    case .nothing: return false
    case .somethingElse:
      let decision = Gate.Decision.refuse(
        code: .missingEntitlement, rule: "the program did not return the number of the challenge")
      try shared.append(pending.facts, decision, peer)
      try send(decision.error)
      return false
    }
    senderProof.complete(try program())
    return true
  }

  /// Sends why there is no answer: a challenge, or an error.
  func send(_ error: any Error) throws {
    if let challenge = error as? Challenge { return try channel.send(challenge.frame(request: number)) }
    var error = KeychainError(error)
    if error.cause == .gate, shared.administration != nil { error = KeychainError(error.code, cause: .systemGate, error.detail) }
    try channel.send(error.frame(request: number))
  }

  /// - Throws: `Challenge`, if the client has to return a number first.
  private mutating func decided(_ request: consuming Request, _ kind: Request.Kind, for client: BusClient?) throws -> Answer {
    let subject = request.subject
    var facts = try facts(kind, subject.group, subject.item)
    facts.note = request.note
    facts.client = client.map { self.client($0, of: facts.program) }
    let decision = Gate.decide(facts)
    switch decision {
    case .challenge: throw try senderProof.challenge(facts)
    case .refuse:
      try shared.append(facts, decision, peer)
      throw decision.error
    case .allow(let role):
      do {
        return try done(request, as: role, facts)
      } catch  where !Self.endsConnection(error) {
        let error = KeychainError(error)
        // The gate lets the program in; the vault decides what it may do there.
        if error.code.isRefusal { try shared.append(facts, .refuse(code: error.code, rule: error.detail), peer) }
        throw error
      }
    }
  }

  /// Logs that it is allowed, once nothing but the doing is left, and does it: a program that is refused has no entry but the refusal.
  private mutating func done(_ request: consuming Request, as role: Gate.Role, _ facts: Gate.Facts) throws -> Answer {
    let allowed = { [shared, peer] (new: Reference?) in
      var facts = facts
      if let new { (facts.group, facts.item) = (new.group, new.id) }
      try shared.append(facts, .allow(role), peer)
    }
    switch consume request {
    case .session(let request): return try done(request) { try allowed(nil) }
    case .vault(let request):
      guard let administration = shared.administration else { throw KeychainError(.notAllowed) }
      return try administration.answer(request, &ownedAt) { try allowed(nil) }
    case .apps(let request): return try done(request, role) { try allowed(nil) }
    case .groups(let request): return try done(request, role) { try allowed(nil) }
    case .upkeep(let request):
      guard let administration = shared.administration else { throw KeychainError(.notAllowed) }
      return try administration.carryOut(request, UpkeepSession(channel, number, isRoot: facts.isRoot)) { try allowed(nil) }
    case .items(let request):
      let program = role == .owner ? nil : facts.program
      // Changes of other devices would keep the vault open for ever.
      let isUse = facts.program != .own(.sync)
      return try shared.vault.answer(request, byteCount: byteCount, isUse: isUse) { (vault, rules) in
        try callers.caller(program, in: vault, at: rules) { try caller(program, in: $0) }
      } confirm: { confirmation, lockCount in
        try confirm(confirmation, facts, lockCount)
      } allowed: {
        try allowed($0)
      }
    }
  }

  /// The facts as they are now.
  /// - Parameter isSenderProven: False if that is to be found out.
  func facts(
    _ kind: Request.Kind, _ group: AccessGroup? = nil, _ item: Identifier? = nil, isSenderProven: Bool = false
  ) throws -> Gate.Facts {
    let program = try program()
    let isGranted = if case .program = program, let name = program.grantedName { shared.vault.hasGrant(to: name) } else { false }
    return Gate.Facts(
      operation: kind, program: program, isSameUser: peer.user == shared.user, isRoot: peer.user == 0,
      isOwner: ownedAt == shared.vault.lockCount, wasUnlocked: shared.vault.status.wasUnlocked,
      isSystem: shared.administration != nil, isSenderProven: isSenderProven || senderProof.covers(program), isGranted: isGranted,
      group: group, item: item)
  }

  /// One of Coffer's own that has hidden since it has proven itself is what it was.
  func program() throws -> ProgramIdentity {
    guard let own = senderProof.own else { return try program(of: peer) }
    // It may hide or show itself between two looks. As a rule it is as it was at the last one.
    for _ in 0..<Self.maximumLooks {
      if senderProof.wasHidden, peer.isHidden { return own }
      let found = try program(of: peer)
      guard case .unknown = found else {
        senderProof.wasHidden = false
        return found
      }
      senderProof.wasHidden = true
    }
    return try program(of: peer)
  }

  private static let maximumLooks = 16

  func program(of peer: Peer) throws -> ProgramIdentity {
    do {
      return try shared.programs.identify(peer)
    } catch is Peer.Failure {
      return .unknown("it has ended")
    } catch let error as FileError {
      // Then there are no apps; the vault can be locked nevertheless.
      return .unknown("the installed apps cannot be read: \(error.detail)")
    }
  }

  /// The program that a request is for. One that no program but `coffer-secrets` may name is not looked at.
  private func client(_ client: BusClient, of program: ProgramIdentity) -> Client {
    guard program == .own(.secretService), case .process(let process, let start) = client,
      let named = try? named.peer(process, start: start, user: peer.user), let found = try? self.program(of: named)
    else { return .unknown }
    return Client(program: found, peer: named)
  }

  /// - Parameter program: Nil: the owner.
  func caller(_ program: ProgramIdentity?, in vault: borrowing Vault) throws -> Caller {
    guard let program else { return .owner }
    let caller = try rights(of: program, in: vault)
    return shared.administration == nil ? caller : caller.keepingVersions()
  }

  private func rights(of program: ProgramIdentity, in vault: borrowing Vault) throws -> Caller {
    switch program {
    case .command: return try .command(in: vault)
    case .own(let program): return try .own(program, in: vault)
    case .app(let application):
      // An older manifest of the team's, put in the place of the one that was installed, may give more.
      guard let signed = try shared.programs.manifest(of: application),
        try vault.pin(application)?.version == signed.manifest.version
      else { throw KeychainError(.appNotInstalled, application) }
      return try Caller(signed, in: vault)
    case .unit, .flatpak, .program, .interpreter, .client, .unknown:
      guard let name = program.grantedName else { throw KeychainError(.missingEntitlement) }
      return try .granted(to: name, in: vault)
    }
  }
}
