package import CofferAudit
internal import CofferRequests
internal import VaultCore

extension Keychain {
  /// The audit log of an agent of the system, as it is at this moment; its entries are fetched when they are read. Nil if it has none.
  /// - Throws: `missingEntitlement` to a program other than `coffer` that has not proven to be the owner's; `locked`. To read the entries
  ///   throws `notFound` if the agent has dropped the oldest ones meanwhile.
  package func auditHistory() throws -> AuditHistory? {
    var rings: [AuditRing: (head: [UInt8], parts: [AuditReading.Part])] = [:]
    for row in try rows(.apps(.log)) {
      guard case .text(let name)? = row["ring"], let ring = AuditRing(rawValue: name) else { throw KeychainError.otherAnswer }
      if case .data(let head)? = row["head"] { rings[ring] = (head, []) }
      guard case .integer(let first)? = row["first"], case .integer(let size)? = row["size"] else { continue }
      let part = try AuditReading.Part(first: first, byteCount: Int(clamping: size), path: "\(ring.rawValue)/\(first)") { range in
        try self.logBytes(range, of: ring, first)
      }
      rings[ring]?.parts.append(part)
    }
    guard !rings.isEmpty else { return nil }
    return AuditHistory(AuditRing.allCases.map { ring in (ring, rings[ring].map { AuditReading(headBytes: $0.head, $0.parts) }) })
  }

  private func logBytes(_ range: Range<Int>, of ring: AuditRing, _ first: UInt64) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < range.count {
      let offset = UInt64(range.lowerBound + bytes.count)
      let before = bytes.count
      for row in try rows(.apps(.logPart(ring: ring.rawValue, first: first, offset: offset))) {
        guard case .data(let part)? = row["bytes"] else { throw KeychainError.otherAnswer }
        bytes += part
      }
      // It was cut since.
      if bytes.count == before { return bytes }
    }
    // More was written since.
    return Array(bytes.prefix(range.count))
  }
}
