import CofferRequests
import CofferWire
import Pinentry
import VaultCore

/// Carries out what the gate allows.
extension Conversation {
  /// Logs that it is allowed, once nothing but the doing is left, and does it: a program that is refused has no entry but the refusal.
  mutating func done(_ request: consuming Request, as role: Gate.Role, _ facts: Gate.Facts) throws -> Answer {
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
    case .items(let request):
      let program = role == .owner ? nil : facts.program
      return try shared.vault.answer(request, byteCount: byteCount) { (vault, rules) in
        try callers.caller(program, in: vault, at: rules) { try caller(program, in: $0) }
      } confirm: { confirmation, lockCount in
        try confirm(confirmation, facts.program, lockCount)
      } allowed: {
        try allowed($0)
      }
    }
  }

  private mutating func done(_ request: consuming SessionRequest, allowed: () throws -> Void) throws -> Answer {
    switch consume request {
    case .status: return .status(shared.vault.status)
    case .inspect:
      try allowed()
      return .rows(try shared.vault.inspect().wireRows)
    case .unlock(let credential, let display):
      let display = try Self.display(display)
      let count = try shared.vault.unlock(credential) { try allowed() }
      ownedAt = try credential.slotType != .keyFile || shared.administration?.hasKeyFilesAlone() ?? false ? count : nil
      if ownedAt != nil { shared.questions?.ownerIs(at: display) }
      return .done
    case .lock:
      try allowed()
      shared.vault.lock()
      return .done
    case .end:
      try allowed()
      // A client that hears that it is done may copy the vault's file.
      shared.vault.end()
      isEnding = true
      return .done
    case .watch: throw KeychainError(.notAllowed)
    }
  }

  private func done(_ request: AppRequest, _ role: Gate.Role, allowed: () throws -> Void) throws -> Answer {
    switch request {
    case .leases:
      try allowed()
      return .rows(try shared.leases().map(\.wireRow))
    case .endLease(let number):
      guard try shared.leases().contains(where: { $0.number == number }) else {
        throw KeychainError(.notFound, "lease \(number)")
      }
      try allowed()
      shared.questions?.endLease(number)
      return .done
    case .log, .logPart:
      try allowed()
      return .rows(try shared.administration?.log(request) ?? [])
    case .pins, .grants, .install, .uninstall, .itemCount, .forget, .grant, .revoke:
      try allowed()
      guard let administration = shared.administration, role == .owner else { return try shared.vault.rules(request) }
      return try administration.answer(request)
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
}
