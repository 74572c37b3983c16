package import VaultCore
internal import VaultUpkeep

/// The limits that the owner has set for a vault.
package struct VaultPolicyReport: Equatable, Sendable {
  package let limits: Limits
  /// Whether they were set anew as a whole, because the policy was damaged.
  package let wasDamaged: Bool

  package init(_ limits: Limits, wasDamaged: Bool = false) { (self.limits, self.wasDamaged) = (limits, wasDamaged) }

  package var wireRows: [Attributes] {
    var row = Attributes()
    for name in Limits.Name.allCases { row[name.rawValue] = limits[name].map { .integer($0) } }
    row["damaged"] = .integer(wasDamaged ? 1 : 0)
    return [row]
  }

  /// - Throws: `field`, `malformed`.
  package init(wireRows rows: [Attributes]) throws(WireError) {
    guard rows.count == 1 else { throw WireError(.malformed, "\(rows.count) rows") }
    var fields = Fields(rows[0])
    var limits = Limits()
    for name in Limits.Name.allCases {
      guard let value = try fields.integer(name.rawValue) else { continue }
      do { try limits.set(name, to: value) } catch { throw WireError(.field, name.rawValue) }
    }
    self.init(limits, wasDamaged: try fields.flag("damaged"))
    try fields.end()
  }
}
