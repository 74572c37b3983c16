internal import CofferStorage
package import CofferWire
internal import VaultCore

// A cause is sent with the module whose code it is, because codes of several modules have the same name.
extension Answer {
  package static func failed(_ error: KeychainError) -> Answer {
    let domain: String? =
      switch error.cause {
      case .code, .gate, .groupOfTeam, .absentAgent, .auditLog: nil
      case .vault: "vault"
      case .storage: "storage"
      case .apps: "apps"
      case .containers: "containers"
      }
    let cause = domain.map { "\($0).\(error.causeName)" } ?? error.causeName
    return .failed(code: error.code.name, cause: cause, detail: error.detail)
  }
}

extension Message {
  /// The error that the agent has sent. A code that this version does not have is `agent`.
  package borrowing func keychainError() throws(WireError) -> KeychainError {
    let (code, cause, detail) = try failure()
    guard let kind = KeychainError.Code.Kind(rawValue: code) else { return KeychainError(.agent, "\(code): \(detail)") }
    return KeychainError(KeychainError.Code(kind), cause: KeychainError.Cause(wireText: cause), detail)
  }
}

extension KeychainError.Cause {
  /// `DOMAIN.NAME`, or the name of a cause without one.
  fileprivate init(wireText text: String) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    self =
      switch (parts[0], parts.count > 1 ? parts[1] : nil) {
      case ("vault", let name?): .vault(VaultError.Code(name))
      case ("storage", let name?): StorageError.Code(rawValue: name).map { .storage($0) } ?? .code
      case ("apps", let name?): .apps(name)
      case ("containers", let name?): .containers(name)
      case ("gate", nil): .gate
      case ("groupOfTeam", nil): .groupOfTeam
      case ("absent", nil): .absentAgent
      case ("auditLog", nil): .auditLog
      default: .code
      }
  }
}
