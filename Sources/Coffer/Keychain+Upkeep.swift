package import CofferLifecycle
internal import CofferRequests
package import CofferWire
package import VaultCore

/// Work on the whole vault of a system agent. Each carries a proof of the owner.
extension Keychain {
  package func limits(by proof: borrowing Credential, ceiling: KDFCeiling, _ client: some UpkeepClient) throws
    -> VaultPolicyReport
  {
    try upkeep(by: proof, ceiling, client) {
      .policy(by: $0)
    } read: { (rows) throws(WireError) in
      try .init(wireRows: rows)
    }
  }

  /// The slot that a credential of the owner opens, and the policy; nil if that is damaged. If it opens several slots, the first one. The vault
  /// is as locked as before.
  /// - Throws: `wrongCredential`, `noSuchSlot`, `missingEntitlement`.
  package func openedSlot(
    by proof: borrowing Credential, ceiling: KDFCeiling, _ client: some UpkeepClient
  ) throws -> (slot: SlotDescription, policy: VaultPolicyReport?) {
    var salt: [UInt8]?
    var policy: VaultPolicyReport?
    do {
      policy = try upkeep(by: proof, ceiling, client) {
        salt = $0.salt
        return .policy(by: $0)
      } read: { (rows) throws(WireError) in
        try .init(wireRows: rows)
      }
    } catch let error as KeychainError where error.concernsOneRecord {
      // An answer as well: the credential was right.
    }
    guard let slot = try vaultStatus().slots.first(where: { $0.salt == salt }) else {
      throw KeychainError(VaultError(.noSuchSlot))
    }
    return (slot, policy)
  }

  package func setLimits(
    _ limits: [Limits.Name: UInt64], by proof: borrowing Credential, ceiling: KDFCeiling, _ client: some UpkeepClient
  ) throws -> VaultPolicyReport {
    try upkeep(by: proof, ceiling, client) {
      .setPolicy(limits, by: $0)
    } read: { (rows) throws(WireError) in
      try .init(wireRows: rows)
    }
  }

  package func verify(by proof: borrowing Credential, ceiling: KDFCeiling, _ client: some UpkeepClient) throws -> VaultCheck {
    try upkeep(by: proof, ceiling, client) {
      .verify(by: $0)
    } read: { (rows) throws(WireError) in
      try .init(wireRows: rows)
    }
  }

  /// - Returns: The rollback that was accepted; nil if there was none.
  package func acceptRollback(
    by proof: borrowing Credential, ceiling: KDFCeiling, _ client: some UpkeepClient
  ) throws -> VaultCheck.Rollback? {
    try upkeep(by: proof, ceiling, client) {
      .acceptRollback(by: $0)
    } read: { (rows) throws(WireError) in
      try rows.first.map { (row) throws(WireError) in try VaultCheck.Rollback(wireRow: row) }
    }
  }

  /// - Parameters:
  ///   - isHandedOn: Whether the client takes the copy, and the agent keeps none.
  ///   - proof: nil: this is a process of root's.
  package func backUp(
    isHandedOn: Bool, isVerified: Bool, by proof: borrowing Credential?, ceiling: KDFCeiling, _ client: some UpkeepClient
  ) throws -> VaultBackupReport {
    let read = { (rows: [Attributes]) throws(WireError) in try VaultBackupReport(wireRows: rows) }
    switch proof {
    case .some(let proof):
      return try upkeep(by: proof, ceiling, client) {
        .backup(isHandedOn: isHandedOn, isVerified: isVerified, by: $0)
      } read: { (rows) throws(WireError) in
        try read(rows)
      }
    case .none:
      return try Self.result(
        of: agent.answer(.backup(isHandedOn: isHandedOn, isVerified: isVerified, by: nil), client)
      ) { (rows) throws(WireError) in
        try read(rows)
      }
    }
  }

  /// - Parameter proof: nil: this is a process of root's.
  package func restore(
    hasFile: Bool, isTrial: Bool, by proof: borrowing Credential?, ceiling: KDFCeiling, _ client: some UpkeepClient
  ) throws -> RestoreAnswer {
    switch proof {
    case .some(let proof):
      return try upkeep(by: proof, ceiling, client) {
        .restore(hasFile: hasFile, isTrial: isTrial, by: $0)
      } read: { (rows) throws(WireError) in
        try RestoreAnswer(wireRows: rows)
      }
    case .none:
      let rows = try agent.answer(.restore(hasFile: hasFile, isTrial: isTrial, by: nil), client)
      return try Self.result(of: rows) { (rows) throws(WireError) in try RestoreAnswer(wireRows: rows) }
    }
  }

  package func repair(
    hasFile: Bool, acceptsUnproven: Bool, isTrial: Bool, by proof: borrowing Credential, ceiling: KDFCeiling,
    _ client: some UpkeepClient
  ) throws -> RepairAnswer {
    try upkeep(by: proof, ceiling, client) {
      .repair(hasFile: hasFile, acceptsUnproven: acceptsUnproven, isTrial: isTrial, by: $0)
    } read: { (rows) throws(WireError) in
      try RepairAnswer(wireRows: rows)
    }
  }

  package func rotate(
    _ order: RotationOrder, by proof: borrowing Credential, ceiling: KDFCeiling, _ client: some UpkeepClient
  ) throws -> RotationOutcome {
    try upkeep(by: proof, ceiling, client) {
      .rotate(order, by: $0)
    } read: { (rows) throws(WireError) in
      try RotationOutcome(wireRows: rows)
    }
  }

  /// - Parameters:
  ///   - request: Makes the request with the credential as it was derived for a slot.
  ///   - read: The meaning of the rows of the answer.
  func upkeep<Result>(
    by proof: borrowing Credential, _ ceiling: KDFCeiling, _ client: some UpkeepClient,
    _ request: (consuming Credential) throws -> UpkeepRequest, read: ([Attributes]) throws(WireError) -> Result
  ) throws -> Result {
    var result: Result?
    try withDerived(proof, ceiling) { derived in
      result = try Self.result(of: agent.answer(request(derived), client), read)
    }
    guard let result else { throw KeychainError.otherAnswer }
    return result
  }
  /// - Throws: `UnsoundVault`; `agent`.
  private static func result<Result>(
    of rows: [Attributes], _ read: ([Attributes]) throws(WireError) -> Result
  ) throws -> Result {
    let unsound: UnsoundVault?
    do throws(WireError) {
      unsound = try UnsoundVault(wireRows: rows)
      if unsound == nil { return try read(rows) }
    } catch { throw misunderstood(error) }
    throw unsound!
  }
}
