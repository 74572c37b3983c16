import Coffer
import CofferRequests
import CofferSync
import SecretMemory
import VaultCore

/// The fold becomes items of the vault. A value that goes is kept there as a former version. Section 5.3 of docs/sync-format.md.
extension SpaceSession {
  /// The writes into the vault.
  struct Applied {
    var written = 0
    var removed = 0
    /// Items that the vault does not take, with the reason.
    var refused: [(name: String, error: any Error)] = []
    /// Items that are as they were.
    var open: Set<Identifier> = []
  }

  /// An item that the vault has in another state than the space.
  struct Difference {
    let tag: Identifier
    let row: KnownRow
    /// The values that are written one after the other: secrets of others that lost, and that this vault has never had, before the
    /// one that is shown. The protection class changes last, in a write of its own.
    let stages: [PlannedValue]

    var value: PlannedValue { stages[stages.count - 1] }
  }

  /// - Parameters:
  ///   - objects: The large values of the engine.
  ///   - entities: The items that may be in another state.
  func apply(_ found: Collected, _ entities: Set<EntityKey>, _ objects: ObjectSource) throws -> Applied {
    var applied = Applied()
    var (differences, removed): ([Difference], [Identifier]) = ([], [])
    for key in entities
    where key.kind == .item && found.unread[key.tag] == nil {
      let row = state.rows[key.tag]
      guard let entity = shown(key) else {
        if row != nil { removed.append(key.tag) }
        continue
      }
      guard entity.exists else {
        if row != nil || found.outdated.contains(key.tag) { removed.append(key.tag) }
        continue
      }
      guard let new = KnownRow(entity, version: row?.version), new != row else { continue }
      do {
        guard let difference = try difference(key.tag, entity, new, found.items.entries[key.tag], objects) else { continue }
        // The value is there, and another device has written it too, or has seen it.
        if let row, row.content == new.content, row.secret == new.secret, difference.stages.count == 1 {
          state.rows[key.tag] = new
        } else if let entry = found.items.entries[key.tag], difference.stages.count == 1, try hasValue(difference.value, entry) {
          state.rows[key.tag] = new
          state.rows[key.tag]?.version = entry.version
        } else {
          differences.append(difference)
        }
      } catch let error as VaultError {
        throw error
      } catch let error as KeychainError {
        throw error
      } catch {
        // A large value that the engine does not have now must not hold up the others.
        applied.refused.append((content(of: key.tag)?.item.shownName ?? key.tag.description, error))
        applied.open.insert(key.tag)
      }
    }
    // Items of outdated vaults that no device has any more.
    removed += found.outdated.filter { shown(EntityKey(.item, $0)) == nil }
    defer {
      let isOpen = differences.filter { !(state.rows[$0.tag]?.hasValues(of: $0.row) ?? false) }.map(\.tag)
      applied.open.formUnion(isOpen + removed.filter { state.rows[$0] != nil })
    }
    guard !differences.isEmpty || !removed.isEmpty else { return applied }
    differences.sort { $0.tag < $1.tag }
    removed.sort()
    var plan = Plan()
    plan.steps =
      try removed.map { Plan.Step(tag: $0, row: nil, digests: []) }
      + differences.map {
        Plan.Step(tag: $0.tag, row: $0.row, digests: try $0.stages.map { try opened($0).digest(keys.state) })
      }
    try files.save(plan)
    for tag in removed { try remove(tag, found, &applied) }
    try write(differences, found, &applied)
    return applied
  }

  /// - Returns: nil for an item of a group that is not shared here.
  private func difference(
    _ tag: Identifier, _ entity: Entity, _ new: KnownRow, _ entry: Entry?, _ objects: ObjectSource
  ) throws -> Difference? {
    guard let content = entity.shown(.content), let secret = entity.shown(.secret) else { return nil }
    let bytes = try state.replica.content(of: content, objects).secret.copyIntoUnprotectedBytes()
    let item = try ItemContent(parsing: bytes)
    // The fold has not seen a content that lies in an object.
    guard item.tag == tag else { throw VoidCause.tag }
    guard state.groups.contains(item.group) else { return nil }
    let known = state.rows[tag]?.seen[.secret] ?? []
    let lost = try entity[.secret].dropFirst().filter { !known.contains($0.dot) && $0.value != secret }
      .compactMap { try available($0.value, objects) }
    let present = try ItemContent(item.item, in: item.group, accessibility: entry?.accessibility ?? item.accessibility)
    let shown = try state.replica.sealedContent(of: secret, objects)
    var stages = (lost + [shown]).map { PlannedValue(content: present, secret: $0) }
    if present != item { stages.append(PlannedValue(content: item, secret: shown)) }
    guard stages.allSatisfy({ $0.byteCount <= ItemValue.maximumByteCount }) else { throw VoidCause.form }
    return Difference(tag: tag, row: new, stages: stages)
  }

  /// A value that is not shown. If no device has it, the shown one is written without it.
  private func available(_ value: Value, _ objects: ObjectSource) throws -> SealedSecret? {
    do {
      return try state.replica.sealedContent(of: value, objects)
    } catch Halt.objectMissing, VoidCause.tag {
      return nil
    }
  }

  func opened(_ value: PlannedValue) throws -> ItemValue {
    ItemValue(value.content, try state.replica.open(value.secret))
  }

  func hasValue(_ value: PlannedValue, _ entry: Entry) throws -> Bool {
    guard (try? ItemContent(entry)) == value.content else { return false }
    do {
      let secret = try keychain.secret(of: entry.reference, purpose: "to share it")
      return try secret.isEqual(to: state.replica.open(value.secret).secret)
    } catch let error as KeychainError where error.code.isOfOneItem {
      return false
    }
  }
}

extension Item {
  /// For people.
  var shownName: String {
    let names = itemClass.primaryAttributes.compactMap { name, _ -> String? in
      if case .text(let text)? = attributes[name] { text } else { nil }
    }
    return names.isEmpty ? label ?? "" : names.reversed().joined(separator: "/")
  }
}
