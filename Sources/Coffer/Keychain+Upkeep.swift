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

  /// - Parameters:
  ///   - request: Makes the request with the credential as it was derived for a slot.
  ///   - read: The meaning of the rows of the answer.
  func upkeep<Result>(
    by proof: borrowing Credential, _ ceiling: KDFCeiling, _ client: some UpkeepClient,
    _ request: (consuming Credential) throws -> UpkeepRequest, read: ([Attributes]) throws(WireError) -> Result
  ) throws -> Result {
    var result: Result?
    try withDerived(proof, ceiling) { derived in
      let rows = try agent.answer(request(derived), client)
      do throws(WireError) { result = try read(rows) } catch { throw Self.misunderstood(error) }
    }
    guard let result else { throw KeychainError.otherAnswer }
    return result
  }
}
