package import CofferLifecycle
internal import CofferStorage
internal import SecretMemory
package import VaultCore

/// A backup that was opened and proven, and the effect of its restore.
package struct RestoreFindings: Equatable, Sendable {
  /// The path of the backup, if the caller has named none.
  package let file: String?
  /// The generation of the backup.
  package let generation: UInt64
  package let recordCount: UInt64
  package let unavailableCount: UInt64
  package var plan: Restoration.Plan

  package init(_ plan: Restoration.Plan, of file: String?, generation: UInt64, _ check: VaultCheck) {
    (self.plan, self.file, self.generation) = (plan, file, generation)
    (recordCount, unavailableCount) = (check.recordCount, check.unavailableCount)
  }
}

extension RestoreFindings {
  package var wireRow: Attributes {
    var row = Attributes()
    row["file"] = file.map { .text($0) }
    row["generation"] = .integer(generation)
    row["records"] = .integer(recordCount)
    row["unavailable"] = .integer(unavailableCount)
    row["way"] = .text(plan.way.rawValue)
    row["other-vault"] = .integer(plan.isOtherVault ? 1 : 0)
    row["older-keys"] = .integer(plan.hasOlderKeys ? 1 : 0)
    row["here"] = plan.generation.map { .integer($0) }
    row["rollback"] = plan.rollback.map { .text($0.name) }
    row["damage"] = plan.damage.map { .text($0.code.rawValue) }
    row["damage-detail"] = plan.damage.map { .text($0.detail) }
    row["problems"] = .integer(plan.problemCount)
    for change in plan.limits {
      row["\(change.name.rawValue)-here"] = .integer(change.here)
      row["\(change.name.rawValue)-there"] = .integer(change.there)
    }
    guard let comparison = plan.comparison else { return row }
    row["only-here"] = .integer(comparison.onlyHere)
    row["only-there"] = .integer(comparison.onlyThere)
    row["newer-here"] = .integer(comparison.newerHere)
    row["differing"] = .integer(comparison.differing)
    row["others-differ"] = .integer(comparison.otherRecordsDiffer ? 1 : 0)
    return row
  }

  /// - Throws: `field`.
  package init(wireRow row: Attributes) throws(WireError) {
    var fields = Fields(row)
    file = try fields.text("file")
    generation = try fields.requiredInteger("generation")
    (recordCount, unavailableCount) = (try fields.requiredInteger("records"), try fields.requiredInteger("unavailable"))
    let way = try Fields.required("way", Restoration.Way(rawValue: try fields.requiredText("way")))
    let isOther = try fields.flag("other-vault")
    var plan = Restoration.Plan(way: way, isOtherVault: isOther)
    plan.hasOlderKeys = try fields.flag("older-keys")
    plan.generation = try fields.integer("here")
    plan.rollback = try fields.text("rollback").map { VaultError.Code($0) }
    plan.damage = try fields.damage()
    plan.problemCount = try fields.requiredInteger("problems")
    plan.limits = try fields.limitChanges()
    plan.comparison = try fields.comparison()
    self.plan = plan
    try fields.end()
  }
}

extension Fields {
  fileprivate mutating func damage() throws(WireError) -> StorageError? {
    guard let name = try text("damage") else { return nil }
    guard let code = StorageError.Code(rawValue: name) else { throw WireError(.field, "damage") }
    return StorageError(code, try requiredText("damage-detail"))
  }

  fileprivate mutating func limitChanges() throws(WireError) -> [Restoration.LimitChange] {
    var changes: [Restoration.LimitChange] = []
    for name in Limits.Name.allCases {
      guard let here = try integer("\(name.rawValue)-here") else { continue }
      changes.append(.init(name, here: here, there: try requiredInteger("\(name.rawValue)-there")))
    }
    return changes
  }

  fileprivate mutating func comparison() throws(WireError) -> Comparison? {
    guard let onlyHere = try integer("only-here") else { return nil }
    var comparison = Comparison()
    comparison.onlyHere = onlyHere
    comparison.onlyThere = try requiredInteger("only-there")
    comparison.newerHere = try requiredInteger("newer-here")
    comparison.differing = try requiredInteger("differing")
    comparison.otherRecordsDiffer = try flag("others-differ")
    return comparison
  }
}

extension Restoration.Outcome {
  package var wireRow: Attributes {
    var row = Attributes()
    row["way"] = .text(way.rawValue)
    row["generation"] = .integer(generation)
    row["kept"] = kept.map { .text($0) }
    row["anchor-failure"] = anchorFailure.map { .text($0) }
    return row
  }

  /// - Throws: `field`.
  package init(wireRow row: Attributes) throws(WireError) {
    var fields = Fields(row)
    let way = try Fields.required("way", Restoration.Way(rawValue: try fields.requiredText("way")))
    let generation = try fields.requiredInteger("generation")
    let kept = try fields.text("kept")
    self.init(way: way, generation: generation, kept: kept, anchorFailure: try fields.text("anchor-failure"))
    try fields.end()
  }
}

/// The agent's answer to a restore.
package struct RestoreAnswer: Sendable {
  package let findings: RestoreFindings
  /// nil after a trial.
  package let outcome: Restoration.Outcome?

  package init(_ findings: RestoreFindings, _ outcome: Restoration.Outcome?) {
    (self.findings, self.outcome) = (findings, outcome)
  }

  /// - Throws: `field`, `malformed`.
  package init(wireRows rows: [Attributes]) throws(WireError) {
    guard let first = rows.first, rows.count <= 2 else { throw WireError(.malformed, "\(rows.count) rows") }
    findings = try RestoreFindings(wireRow: first)
    outcome = rows.count == 2 ? try Restoration.Outcome(wireRow: rows[1]) : nil
  }
}
