package import CofferRequests
internal import CofferStorage
package import SecretMemory
internal import VaultCore

extension KeychainError {
  /// - Throws: `VaultError` of locked memory.
  package func frame(request: UInt64) throws -> Secret {
    var fields = Attributes()
    fields["code"] = .text(code.name)
    fields["cause"] = .text(cause.domain.map { "\($0).\(causeName)" } ?? causeName)
    fields["detail"] = .text(detail)
    return try Message(fields: fields).frame(.failed, request: request)
  }
}

extension Message {
  /// The error that the agent has sent. A code that this version does not have is `agent`.
  package borrowing func failure() throws(WireError) -> KeychainError {
    var fields = Fields(fields)
    let code = try fields.requiredText("code")
    let cause = try fields.requiredText("cause")
    let detail = try fields.requiredText("detail")
    try fields.end()
    try expectNothingElse()
    guard let kind = KeychainError.Code.Kind(rawValue: code) else { return KeychainError(.agent, "\(code): \(detail)") }
    return KeychainError(KeychainError.Code(kind), cause: KeychainError.Cause(wireText: cause), detail)
  }
}

extension KeychainError.Cause {
  /// The module whose code it is. It is sent with the name, because codes of several modules have the same name.
  fileprivate var domain: String? {
    switch self {
    case .code, .gate, .systemGate, .groupOfTeam, .absentAgent, .auditLog: nil
    case .vault: "vault"
    case .storage: "storage"
    case .apps: "apps"
    case .containers: "containers"
    case .lifecycle: "lifecycle"
    }
  }

  /// `DOMAIN.NAME`, or the name of a cause without one.
  fileprivate init(wireText text: String) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    self =
      switch (parts[0], parts.count > 1 ? parts[1] : nil) {
      case ("vault", let name?): .vault(VaultError.Code(name))
      case ("storage", let name?): StorageError.Code(rawValue: name).map { .storage($0) } ?? .code
      case ("apps", let name?): .apps(name)
      case ("containers", let name?): .containers(name)
      case ("lifecycle", let name?): .lifecycle(name)
      case ("gate", nil): .gate
      case ("systemGate", nil): .systemGate
      case ("groupOfTeam", nil): .groupOfTeam
      case ("absent", nil): .absentAgent
      case ("auditLog", nil): .auditLog
      default: .code
      }
  }
}
