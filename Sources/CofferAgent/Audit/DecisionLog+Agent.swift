package import CofferAudit
import CofferRequests
package import CofferWire
import VaultCore

/// Writes the decisions of the agent into the audit log.
extension DecisionLog {
  /// Logs a decision of the gate or of the vault.
  package func append(_ facts: Gate.Facts, _ decision: Gate.Decision, _ peer: Peer) throws {
    let audit = facts.operation.traits.audit
    switch decision {
    // The same request comes again.
    case .challenge: return
    case .refuse(let code, let rule):
      if audit == .never { return }
      try append(.refused, facts, peer, "\(code): \(rule)", to: .refusals, isMerged: true)
    case .allow(let role):
      let (ring, isMerged, isSynced): (AuditRing, Bool, Bool)
      switch audit {
      case .never, .refusalsOnly: return
      case .withRefusals: (ring, isMerged, isSynced) = (.refusals, true, false)
      case .use: (ring, isMerged, isSynced) = (.uses, false, false)
      case .countedUse: (ring, isMerged, isSynced) = (.uses, true, false)
      case .decision: (ring, isMerged, isSynced) = (.decisions, false, true)
      }
      let reason = (role == .owner ? "owner" : "gate") + (facts.note.isEmpty ? "" : ", \(facts.note)")
      try append(.allowed, facts, peer, reason, to: ring, isMerged: isMerged, isSynced: isSynced)
    }
  }

  /// Logs that a connection was closed because of bytes that are not a request. Without their detail, which the client chooses: each would be
  /// an entry of its own.
  package func append(_ fault: WireError, _ program: ProgramIdentity, _ peer: Peer) throws {
    try append(.refused, "agent.frame", program, peer, group: "", "malformed: \(fault.code.name)", to: .refusals, isMerged: true)
  }

  private func append(
    _ decision: AuditEntry.Decision, _ facts: Gate.Facts, _ peer: Peer, _ reason: String, to ring: AuditRing, isMerged: Bool,
    isSynced: Bool = false
  ) throws {
    try append(
      decision, facts.operation.loggedName, facts.asker, peer, group: facts.group?.name ?? "",
      item: facts.item.map { "\($0)" } ?? "", reason, to: ring, isMerged: isMerged, isSynced: isSynced)
  }

  /// Logs the outcome of a question to the owner.
  package func append(_ event: OwnerQuestions.Event) throws {
    let (decision, operation, reason): (AuditEntry.Decision, String, String) =
      switch event.outcome {
      case .asked: (.allowed, "agent.ask", "the owner is asked")
      case .allowed(let how), .agreedBefore(let how): (.allowed, "agent.confirm", how)
      case .refused(let why), .notAsked(let why): (.refused, "agent.confirm", why)
      }
    let (ring, isMerged): (AuditRing, Bool) =
      switch event.outcome {
      // Each costs the owner an answer or a minute.
      case .allowed, .refused: (.decisions, false)
      case .asked: (.uses, false)
      case .agreedBefore: (.uses, true)
      case .notAsked: (.refusals, true)
      }
    try append(decision, operation, event.program, event.peer, group: event.group, reason, to: ring, isMerged: isMerged)
  }

  private func append(
    _ decision: AuditEntry.Decision, _ operation: String, _ program: ProgramIdentity, _ peer: Peer, group: String,
    item: String = "", _ reason: String, to ring: AuditRing, isMerged: Bool, isSynced: Bool = false
  ) throws {
    var (application, executable) = ("", peer.programPath)
    switch program {
    case .app(let name): application = name
    case .command, .own, .unit, .flatpak: application = program.grantedName ?? ""
    case .program(let path, _): (application, executable) = (program.grantedName ?? "", path)
    case .interpreter(let path): executable = path
    case .unknown(let why): if executable.isEmpty { executable = why }
    case .client(let client, of: let own):
      if case .unknown = client { executable = client.nameOfFile }
      (application, executable) = (own.rawValue, "\(own.rawValue) for \(executable)")
    }
    let caller = AuditEntry.Caller(user: peer.user, process: peer.process, executable: executable, application: application)
    try append(
      AuditEntry(
        at: Self.now(), decision, operation, by: caller, application: application, group: group, item: item, because: reason
      ).shortened, to: ring, isMerged: isMerged, isSynced: isSynced)
  }
}
