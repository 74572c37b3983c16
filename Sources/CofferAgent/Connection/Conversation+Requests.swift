import AccessRights
import CofferRequests
import CofferWire
import Glibc
import Pinentry
import VaultCore

/// Carries out the requests that are not about items, if the gate allows them.
extension Conversation {
  func done(_ request: GroupRequest, _ role: Gate.Role, allowed: () throws -> Void) throws -> Answer {
    try shared.vault.use { vault in
      let caller: Caller = try role == .owner ? .owner : .command(in: vault)
      let now = Timestamp(secondsSince1970: Int64(time(nil)))
      return try GroupService(caller, at: now).carryOut(request, in: &vault, allowed: allowed)
    }
  }

  mutating func done(_ request: consuming SessionRequest, allowed: () throws -> Void) throws -> Answer {
    switch consume request {
    case .status: return .status(shared.vault.statusOfNow)
    case .inspect:
      try allowed()
      return .rows(try shared.vault.inspect().wireRows(backups: shared.administration?.backupState()))
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

  func done(_ request: AppRequest, _ role: Gate.Role, allowed: () throws -> Void) throws -> Answer {
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

  func confirm(_ confirmation: Confirmation, _ facts: Gate.Facts, _ lockCount: UInt64) throws {
    guard let questions = shared.questions else { throw KeychainError(.confirmationNeeded, confirmation.group.name) }
    try questions.confirm(
      confirmation, of: facts.asker, facts.client?.peer ?? peer, lockCount: lockCount, connection: channel.descriptor)
    // An answer takes a while, and it was given about this program.
    let client = facts.client
    guard try program() == facts.program, try client?.peer.map({ try program(of: $0) == client?.program }) ?? true else {
      throw KeychainError(.confirmationNeeded, "the program has become another one")
    }
  }

  private static func display(_ fields: Attributes) throws -> Display {
    do { return try Display(fields: fields) } catch { throw KeychainError(.notAllowed, "a display or terminal: \(error.detail)") }
  }
}

extension Conversation.SharedState {
  /// Those that still hold: the lock of the vault ends them, and a change of what they come from.
  /// - Throws: integrity errors.
  func leases() throws -> [OpenLease] {
    guard let leases = questions?.leases(lockCount: vault.lockCount), !leases.isEmpty, !vault.status.isLocked else { return [] }
    return try vault.use { vault in
      try leases.compactMap { lease in
        let group = lease.group
        let name = lease.program.nameInGrants
        guard try vault.grants(to: name).filter({ $0.group == group }) == lease.grants else { return nil }
        var item: Identifier?
        if case .item(let reference) = lease.subject {
          guard let entry = try? vault.entry(reference), entry.item.confirmMinutes == lease.minutes else { return nil }
          item = reference.id
        }
        return OpenLease(
          number: lease.number, program: lease.program.nameOfLease, group: group, item: item, rights: lease.rights,
          seconds: UInt64(max(0, lease.milliseconds)) / 1000)
      }
    }
  }
}

extension ProgramIdentity {
  /// Interpreters and the like get nothing that could be agreed to.
  fileprivate var nameInGrants: String { if case .app(let application) = self { application } else { grantedName ?? "" } }

  /// A program that another one asks for gets nothing else by the agreement.
  fileprivate var nameOfLease: String {
    guard case .client(let program, let other) = self else { return nameInGrants }
    return "\(other.rawValue) for \(program.nameOfFile)"
  }
}
