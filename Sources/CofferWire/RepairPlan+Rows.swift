internal import SecretMemory
package import VaultCore
package import VaultUpkeep

/// The result of a repair.
package struct RepairOutcome: Equatable, Sendable {
  /// The path of the backup of the vault as it was.
  package let kept: String
  package let recordCount: UInt64
  /// Why the report beside the backup could not be written.
  package let reportFailure: String?

  package init(kept: String, recordCount: UInt64, reportFailure: String?) {
    (self.kept, self.recordCount, self.reportFailure) = (kept, recordCount, reportFailure)
  }

  package var wireRow: Attributes {
    var row = Attributes()
    row["kept"] = .text(kept)
    row["records"] = .integer(recordCount)
    row["report-failure"] = reportFailure.map { .text($0) }
    return row
  }

  /// - Throws: `field`.
  package init(wireRow row: Attributes) throws(WireError) {
    var fields = Fields(row)
    (kept, recordCount) = (try fields.requiredText("kept"), try fields.requiredInteger("records"))
    reportFailure = try fields.text("report-failure")
    try fields.end()
  }
}

/// The agent's answer to a repair.
package struct RepairAnswer: Sendable {
  /// `RepairPlan.wireRow`.
  package let counts: Attributes
  /// nil if nothing was done.
  package let outcome: RepairOutcome?

  /// - Throws: `field`, `malformed`.
  package init(wireRows rows: [Attributes]) throws(WireError) {
    guard let first = rows.first, rows.count <= 2 else { throw WireError(.malformed, "\(rows.count) rows") }
    counts = first
    outcome = rows.count == 2 ? try RepairOutcome(wireRow: rows[1]) : nil
  }
}

extension RepairPlan {
  /// All but the records.
  package var wireRow: Attributes {
    var row = Attributes()
    row["records"] = .integer(UInt64(records.count))
    row["kept"] = .integer(keptCount)
    row["unopened"] = .integer(unopenedCount)
    row["nodes"] = .integer(UInt64(nodeCount))
    row["nameless"] = .integer(UInt64(namelessCount))
    row["miscounted"] = .integer(isMiscounted ? 1 : 0)
    row["history-faults"] = .integer(UInt64(historyFaultCount))
    row["makes-default"] = .integer(makesStandardGroup ? 1 : 0)
    return row
  }

  /// - Parameter rows: The records, which were shown before.
  /// - Throws: `field`, `malformed`.
  package init(wireRow row: Attributes, _ rows: [Attributes]) throws(WireError) {
    var fields = Fields(row)
    guard try fields.requiredInteger("records") == UInt64(rows.count) else { throw WireError(.field, "records") }
    self.init()
    records = try rows.map { (row) throws(WireError) in try RepairedRecord(wireRow: row) }
    keptCount = try fields.requiredInteger("kept")
    unopenedCount = try fields.requiredInteger("unopened")
    nodeCount = Int(clamping: try fields.requiredInteger("nodes"))
    namelessCount = Int(clamping: try fields.requiredInteger("nameless"))
    isMiscounted = try fields.flag("miscounted")
    historyFaultCount = Int(clamping: try fields.requiredInteger("history-faults"))
    makesStandardGroup = try fields.flag("makes-default")
    try fields.end()
  }
}

extension RepairedRecord {
  /// An item is sent with the attributes that its name is made of.
  package var wireRow: Attributes {
    var row = Attributes()
    row["id"] = .data(id.bytes)
    row["outcome"] = .text(outcome.rawValue)
    row["fault"] = reason.map { .text($0.name) }
    row["kind"] = kind.map { .integer(UInt64($0.rawValue)) }
    row["group"] = group.map { .text($0.name) }
    row["generation"] = generation.map { .integer($0) }
    row["replaced"] = replaced.map { .integer($0) }
    row["item"] = item.map { .data($0.named.encoded) }
    return row
  }

  /// - Throws: `field`.
  package init(wireRow row: Attributes) throws(WireError) {
    var fields = Fields(row)
    let id = try Fields.required("id", try fields.identifier("id"))
    let outcome = try Fields.required("outcome", Outcome(rawValue: try fields.requiredText("outcome")))
    let (fault, kind) = (try fields.text("fault"), try fields.value("kind", RecordKind.self))
    let (group, generation) = (try fields.group("group"), try fields.integer("generation"))
    let (replaced, item) = (try fields.integer("replaced"), try fields.item())
    try fields.end()
    self.init(id: id, outcome: outcome, reason: fault.map { VaultError.Code($0) })
    (self.kind, self.group, self.generation, self.replaced, self.item) = (kind, group, generation, replaced, item)
  }
}

extension Fields {
  fileprivate mutating func item() throws(WireError) -> Item? {
    guard let bytes = try data("item") else { return nil }
    do { return try Item(decoding: bytes) } catch { throw WireError(.field, "item") }
  }
}

extension Item {
  /// The item with the attributes that its name is made of, which have a limited length.
  fileprivate var named: Item {
    var named = Item(itemClass)
    for (name, _) in primaryKey { named.attributes[name] = attributes[name] }
    return named
  }
}
