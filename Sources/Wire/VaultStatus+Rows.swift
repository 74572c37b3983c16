package import VaultCore

extension VaultStatus {
  /// The vault in the first, each of its slots in another.
  package var wireRows: [Attributes] {
    var vault = Attributes()
    vault["id"] = .data(id.bytes)
    vault["generation"] = .integer(generation)
    vault["records"] = .integer(recordCount)
    vault["created"] = .time(created)
    vault["depth"] = .integer(UInt64(treeDepth))
    vault["epoch"] = .integer(UInt64(masterEpoch))
    vault["proven"] = .integer(isProven ? 1 : 0)
    vault["check"] = .text(checkCode)
    return [vault]
      + slots.map { slot in
        var fields = Attributes()
        fields["index"] = .integer(UInt64(slot.index))
        fields["id"] = .data(slot.id.bytes)
        fields["kind"] = .integer(UInt64(slot.type.rawValue))
        fields["iterations"] = slot.kdf.map { .integer(UInt64($0.iterations)) }
        fields["memory"] = slot.kdf.map { .integer(UInt64($0.memoryKiB)) }
        return fields
      }
  }

  /// - Throws: `field`, `malformed`.
  package init(wireRows rows: [Attributes]) throws(WireError) {
    guard let first = rows.first else { throw WireError(.malformed, "no vault") }
    var fields = Fields(first)
    let created = try Fields.required("created", try fields.time("created"))
    let slots = try rows.dropFirst().map { (row) throws(WireError) in try SlotDescription(wireRow: row) }
    self.init(
      id: try Fields.required("id", try fields.identifier("id")),
      generation: try Fields.required("generation", try fields.integer("generation")),
      recordCount: try Fields.required("records", try fields.integer("records")), created: created,
      treeDepth: Int(clamping: try Fields.required("depth", try fields.integer("depth"))),
      masterEpoch: UInt32(clamping: try Fields.required("epoch", try fields.integer("epoch"))), slots: slots,
      isProven: try fields.flag("proven"), checkCode: try Fields.required("check", try fields.text("check")))
    try fields.end()
  }
}

extension SlotDescription {
  fileprivate init(wireRow row: Attributes) throws(WireError) {
    var fields = Fields(row)
    let index = Int(clamping: try Fields.required("index", try fields.integer("index")))
    let id = try Fields.required("id", try fields.identifier("id"))
    let type = try Fields.required("kind", try fields.value("kind", SlotType.self))
    var kdf: KDFParameters?
    if let iterations = try fields.integer("iterations"), let memory = try fields.integer("memory") {
      do { kdf = try KDFParameters(iterations: UInt32(clamping: iterations), memoryKiB: UInt32(clamping: memory)) } catch {
        throw WireError(.field, "memory")
      }
    }
    try fields.end()
    self.init(index: index, id: id, type: type, kdf: kdf)
  }
}
