package import CofferLifecycle
package import VaultCore

/// The state of a vault in the agent's answer: for people; the receiver has no proof of it.
package struct VaultSummary: Equatable, Sendable {
  package let id: Identifier
  package let created: Timestamp
  /// The number of commits so far.
  package let generation: UInt64
  /// Items and groups.
  package let recordCount: UInt64
  package let checkCode: String
  package let slots: [SlotDescription]
  /// Set by an agent of the system; nil from others.
  package let backups: BackupState?
}

extension VaultStatus {
  /// The vault in the first, each of its slots in another.
  /// - Parameter backups: Those of the vault, if the receiver cannot look at them.
  package func wireRows(backups: BackupState? = nil) -> [Attributes] {
    var vault = Attributes()
    vault["id"] = .data(id.bytes)
    vault["created"] = .time(created)
    vault["generation"] = .integer(generation)
    vault["records"] = .integer(recordCount)
    vault["check"] = .text(checkCode)
    if let backups { backups.write(into: &vault) }
    return [vault] + slots.map(\.wireRow)
  }
}

extension VaultSummary {
  /// - Throws: `field`, `malformed`.
  package init(wireRows rows: [Attributes]) throws(WireError) {
    guard let first = rows.first else { throw WireError(.malformed, "no vault") }
    var fields = Fields(first)
    self.init(
      id: try Fields.required("id", try fields.identifier("id")),
      created: try Fields.required("created", try fields.time("created")),
      generation: try fields.requiredInteger("generation"),
      recordCount: try fields.requiredInteger("records"),
      checkCode: try fields.requiredText("check"),
      slots: try rows.dropFirst().map { (row) throws(WireError) in try SlotDescription(wireRow: row) },
      backups: try BackupState(readFrom: &fields))
    try fields.end()
    // A client derives a key for each: more than a vault has would keep it busy.
    guard Set(slots.map(\.index)).count == slots.count, slots.allSatisfy({ SlotDescription.indices.contains($0.index) }) else {
      throw WireError(.field, "index")
    }
  }
}

extension BackupState {
  fileprivate func write(into fields: inout Attributes) {
    fields["unfinished-restore"] = .integer(hasIntent ? 1 : 0)
    fields["backup"] = newest.map { .text($0) }
    fields["backup-time"] = newestTime.map { .time($0) }
    fields["trial"] = trial.map { .time($0) }
    fields["newest-has-older-keys"] = .integer(newestHasOlderKeys ? 1 : 0)
    fields["trial-precedes-backups"] = .integer(trialPrecedesBackups ? 1 : 0)
    // Their names have no line feed.
    fields["unfinished-rotations"] =
      unfinishedRotations.isEmpty ? nil : .text(unfinishedRotations.joined(separator: "\n"))
  }

  /// nil if they are not there.
  fileprivate init?(readFrom fields: inout Fields) throws(WireError) {
    guard let hasIntent = try fields.integer("unfinished-restore") else { return nil }
    self.init()
    self.hasIntent = hasIntent != 0
    newest = try fields.text("backup")
    newestTime = try fields.time("backup-time")
    trial = try fields.time("trial")
    newestHasOlderKeys = try fields.flag("newest-has-older-keys")
    trialPrecedesBackups = try fields.flag("trial-precedes-backups")
    unfinishedRotations = try fields.text("unfinished-rotations")?.split(separator: "\n").map(String.init) ?? []
  }
}

extension SlotDescription {
  var wireRow: Attributes {
    var fields = Attributes()
    fields["index"] = .integer(UInt64(index))
    fields["id"] = .data(id.bytes)
    fields["kind"] = .integer(UInt64(type.rawValue))
    fields["salt"] = .data(salt)
    fields["iterations"] = kdf.map { .integer(UInt64($0.iterations)) }
    fields["memory"] = kdf.map { .integer(UInt64($0.memoryKiB)) }
    return fields
  }

  init(wireRow row: Attributes) throws(WireError) {
    var fields = Fields(row)
    let index = Int(clamping: try fields.requiredInteger("index"))
    let id = try Fields.required("id", try fields.identifier("id"))
    let type = try Fields.required("kind", try fields.value("kind", SlotType.self))
    let salt = try Fields.required("salt", try fields.salt("salt"))
    let (iterations, memory) = (try fields.integer("iterations"), try fields.integer("memory"))
    try fields.end()
    self.init(index: index, id: id, type: type, kdf: try Self.parameters(iterations, memory), salt: salt)
  }

  private static func parameters(_ iterations: UInt64?, _ memory: UInt64?) throws(WireError) -> KDFParameters? {
    guard iterations != nil || memory != nil else { return nil }
    guard let iterations = iterations.flatMap(UInt32.init(exactly:)), let memory = memory.flatMap(UInt32.init(exactly:)),
      let parameters = try? KDFParameters(iterations: iterations, memoryKiB: memory)
    else { throw WireError(.field, "memory") }
    return parameters
  }
}
