package import CofferSync
import SecretMemory
package import VaultCore

/// An item that devices have changed without knowing of each other.
package struct SyncConflict: Sendable {
  package let tag: Identifier
  package let group: AccessGroup
  /// For people.
  package let name: String
  /// The parts with several values: the secret, the attributes, or both.
  package let registers: [Register]
}

extension SpaceSession {
  /// The items of shared groups with values that are not shown. The vault keeps these as former versions.
  package func conflicts() -> [SyncConflict] {
    state.rows.keys.sorted().compactMap { tag in
      guard let entity = shown(EntityKey(.item, tag)), entity.exists, let content = content(of: tag) else { return nil }
      let registers = [Register.content, .secret].filter { !entity.conflicts($0).isEmpty }
      return registers.isEmpty
        ? nil : SyncConflict(tag: tag, group: content.group, name: content.item.shownName, registers: registers)
    }
  }

  /// Settles a conflict with the values that are shown.
  /// - Throws: errors of the engine, if a value lies there; errors of the files.
  package func keep(_ conflict: SyncConflict, _ objects: ObjectSource) throws {
    guard let entity = shown(EntityKey(.item, conflict.tag)), let content = entity.shown(.content),
      let secret = entity.shown(.secret)
    else { return }
    // The engine may lack a value of a part that is not settled.
    func written(_ register: Register, _ value: Value) throws -> LockedBytes? {
      conflict.registers.contains(register) ? try state.replica.content(of: value, objects) : nil
    }
    let bytes = try written(.content, content)?.secret.copyIntoUnprotectedBytes()
    let value = try written(.secret, secret)
    try change { state in
      try state.replica.write(
        conflict.tag, content: bytes.map { try ItemContent(parsing: $0) }, secret: value, at: milliseconds())
      // The vault has these values.
      state.rows[conflict.tag] = state.replica.shown(EntityKey(.item, conflict.tag)).flatMap {
        KnownRow($0, version: state.rows[conflict.tag]?.version)
      }
    }
  }
}
