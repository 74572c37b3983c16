package import SecretMemory
package import VaultCore

/// The result of a verification, and how the vault disagrees with its anchor.
package struct VaultCheck: Equatable, Sendable {
  package struct Rollback: Equatable, Sendable {
    package let reason: VaultError
    package let present: UInt64
    package let seen: UInt64?
    package let wasSeenHere: Bool

    /// The reasons that a copy of a vault that lies elsewhere has, too.
    package static let codesOfCopies: [VaultError.Code] = [.rolledBack, .forked, .anchorOtherKeys]

    package init(_ rollback: VaultCore.Rollback) {
      self.init(rollback.reason, present: rollback.present, seen: rollback.seen, wasSeenHere: rollback.wasSeenHere)
    }

    init(_ reason: VaultError, present: UInt64, seen: UInt64?, wasSeenHere: Bool) {
      (self.reason, self.present, self.seen, self.wasSeenHere) = (reason, present, seen, wasSeenHere)
    }
  }

  package let recordCount: UInt64
  package let unavailableCount: UInt64
  package let problemCount: UInt64
  /// The first ones.
  package let problems: [VaultError]
  package let rollback: Rollback?

  package var isSound: Bool { problemCount == 0 }

  package init(_ verification: Verification, _ check: RollbackCheck? = nil) {
    (recordCount, unavailableCount) = (verification.recordCount, verification.unavailableCount)
    (problemCount, problems) = (verification.problemCount, verification.problems)
    rollback = if case .refused(let rollback)? = check { Rollback(rollback) } else { nil }
  }
}

extension VaultCheck {
  /// The counts in the first, and a problem in each of the others.
  package var wireRows: [Attributes] {
    var counts = Attributes()
    counts["records"] = .integer(recordCount)
    counts["unavailable"] = .integer(unavailableCount)
    counts["problems"] = .integer(problemCount)
    if let rollback { counts.set(rollback) }
    return [counts] + problems.map(\.wireRow)
  }

  /// - Throws: `field`, `malformed`.
  package init(wireRows rows: [Attributes]) throws(WireError) {
    guard let first = rows.first, rows.count <= Verification.maximumProblemCount + 1 else {
      throw WireError(.malformed, "\(rows.count) rows")
    }
    var fields = Fields(first)
    recordCount = try fields.requiredInteger("records")
    unavailableCount = try fields.requiredInteger("unavailable")
    problemCount = try fields.requiredInteger("problems")
    rollback = try fields.rollback()
    try fields.end()
    problems = try rows.dropFirst().map { (row) throws(WireError) in try VaultError(wireRow: row) }
    guard problemCount >= UInt64(problems.count), problemCount == 0 || !problems.isEmpty else {
      throw WireError(.field, "problems")
    }
  }
}

extension VaultCheck.Rollback {
  /// In a row of its own.
  package var wireRow: Attributes {
    var row = Attributes()
    row.set(self)
    return row
  }

  /// - Throws: `field`.
  package init(wireRow: Attributes) throws(WireError) {
    var fields = Fields(wireRow)
    self = try Fields.required("rollback", try fields.rollback())
    try fields.end()
  }
}

/// The vault is not sound, so that the work on it was not done.
package struct UnsoundVault: Error {
  package let check: VaultCheck

  package init(_ check: VaultCheck) { self.check = check }

  private static let mark = "unsound"

  /// In the place of the rows of an answer.
  package var wireRows: [Attributes] {
    var mark = Attributes()
    mark[Self.mark] = .integer(1)
    return [mark] + check.wireRows
  }

  /// nil for the rows of another answer.
  /// - Throws: `field`, `malformed`.
  package init?(wireRows rows: [Attributes]) throws(WireError) {
    guard rows.first?[Self.mark] != nil else { return nil }
    self.init(try VaultCheck(wireRows: Array(rows.dropFirst())))
  }
}

extension VaultError {
  package var wireRow: Attributes {
    var row = Attributes()
    row["code"] = .text(code.name)
    row["detail"] = .text(detail)
    return row
  }

  /// - Throws: `field`.
  package init(wireRow: Attributes) throws(WireError) {
    var fields = Fields(wireRow)
    self.init(VaultError.Code(try fields.requiredText("code")), try fields.requiredText("detail"))
    try fields.end()
  }
}

extension Attributes {
  package mutating func set(_ rollback: VaultCheck.Rollback) {
    self["rollback"] = .text(rollback.reason.code.name)
    self["rollback-detail"] = .text(rollback.reason.detail)
    self["generation"] = .integer(rollback.present)
    self["seen"] = rollback.seen.map { .integer($0) }
    self["seen-here"] = .integer(rollback.wasSeenHere ? 1 : 0)
  }
}

extension Fields {
  /// nil if there is none.
  mutating func rollback() throws(WireError) -> VaultCheck.Rollback? {
    guard let code = try text("rollback") else { return nil }
    let reason = VaultError(VaultError.Code(code), try requiredText("rollback-detail"))
    let (present, seen) = (try requiredInteger("generation"), try integer("seen"))
    return VaultCheck.Rollback(reason, present: present, seen: seen, wasSeenHere: try flag("seen-here"))
  }
}
