import AccessRights
import CLinux
package import CofferRequests
import CofferWire
import Glibc
import VaultCore

/// Reads the vault's records of apps and grants.
extension AgentVault {
  /// - Throws: `locked`; `notAllowed` for a request that changes something; integrity errors.
  func rules(_ request: AppRequest) throws -> Answer {
    switch request {
    case .pins: return .rows(try use { try $0.pins().map(\.attributes) })
    case .grants(let application): return .rows(try use { try $0.grants(to: application).map(\.attributes) })
    case .install, .uninstall, .itemCount, .forget, .grant, .revoke, .leases, .endLease, .log, .logPart:
      throw KeychainError(.notAllowed)
    }
  }
}

extension AgentVault {
  /// Milliseconds of a clock that only goes on, also while the machine sleeps.
  package static func clock() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  package static func nobody(_ needed: Confirmation, _: UInt64) throws {
    throw KeychainError(.confirmationNeeded, needed.group.name)
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
          number: lease.number, program: name, group: group, item: item, rights: lease.rights,
          seconds: UInt64(max(0, lease.milliseconds)) / 1000)
      }
    }
  }
}

extension ProgramIdentity {
  /// Interpreters and the like get nothing that could be agreed to.
  fileprivate var nameInGrants: String { if case .app(let application) = self { application } else { grantedName ?? "" } }
}
