import AccessRights
import CLinux
package import CofferRequests
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
