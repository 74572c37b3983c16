package import VaultCore

/// A backup that was made.
package struct VaultBackupReport: Equatable, Sendable {
  /// nil if it was handed on.
  package let path: String?
  package let generation: UInt64
  package let recordCount: UInt64
  package let checkCode: String
  package let wasVerified: Bool
  /// The paths of older backups that were removed.
  package let removed: [String]

  package init(_ status: VaultStatus, at path: String?, wasVerified: Bool, removed: [String]) {
    (self.path, self.wasVerified, self.removed) = (path, wasVerified, removed)
    (generation, recordCount, checkCode) = (status.generation, status.recordCount, status.checkCode)
  }

  /// The backup in the first, and a path in each of the others.
  package var wireRows: [Attributes] {
    var backup = Attributes()
    backup["path"] = path.map { .text($0) }
    backup["generation"] = .integer(generation)
    backup["records"] = .integer(recordCount)
    backup["check"] = .text(checkCode)
    backup["verified"] = .integer(wasVerified ? 1 : 0)
    return [backup]
      + removed.map { path in
        var row = Attributes()
        row["path"] = .text(path)
        return row
      }
  }

  /// - Throws: `field`, `malformed`.
  package init(wireRows rows: [Attributes]) throws(WireError) {
    guard let first = rows.first else { throw WireError(.malformed, "no backup") }
    var fields = Fields(first)
    path = try fields.text("path")
    (generation, recordCount) = (try fields.requiredInteger("generation"), try fields.requiredInteger("records"))
    checkCode = try fields.requiredText("check")
    wasVerified = try fields.flag("verified")
    try fields.end()
    removed = try rows.dropFirst().map { (row) throws(WireError) in
      var fields = Fields(row)
      let path = try fields.requiredText("path")
      try fields.end()
      return path
    }
  }
}
