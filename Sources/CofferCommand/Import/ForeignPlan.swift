import Coffer
import CofferConsole
import CofferRequests
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// The effect of an import from another program on each item, decided before anything is written.
struct ForeignPlan {
  struct Step {
    /// With the name that it gets here.
    let item: Item
    let secret: HeldSecret
    /// Secrets to be written before it, the oldest first. They become former versions.
    let former: ArraySlice<HeldSecret>
    /// The item of this name in the vault.
    let present: Entry?
    /// nil: that of the app in whose name the command works.
    let group: AccessGroup?
    /// `added`, `identical`, or `replaced`: the vault has a former secret of the entry.
    let outcome: ImportPlan.Outcome
    let line: Int

    var nameWithGroup: String { item.nameWithGroup(group ?? .standard) }
  }

  /// An item or a companion, as it would be written.
  private struct Part {
    let item: Item
    let secret: HeldSecret
    var former: [HeldSecret] = []
  }

  /// An item that stays where it is: another secret has its name.
  struct Conflict {
    /// The place in the list.
    let index: Int
    let nameWithGroup: String
    /// The item of this name in the vault.
    let present: Entry?
  }

  private(set) var steps: [Step] = []
  /// None if items are renamed.
  private(set) var conflicts: [Conflict] = []
  private let isRenaming: Bool
  /// The items of the file by their names here.
  private var taken: [[UInt8]: HeldSecret] = [:]

  /// - Parameters:
  ///   - isRenaming: Whether an item of a name that the vault has with another secret gets another name.
  ///   - isGrouping: Whether the items of a folder go into a group of its name.
  init(
    for found: [ForeignItem], in items: OpenItems, group: AccessGroup?, _ work: LongWork, isRenaming: Bool = true,
    isGrouping: Bool = false
  ) throws {
    self.isRenaming = isRenaming
    for (index, one) in found.enumerated() {
      try work.step(UInt64(index), of: UInt64(found.count))
      var one = one
      var target = group
      if isGrouping, let folder = one.folder, let own = try? AccessGroup(folder) {
        target = own
      } else if let folder = one.folder {
        one.set("folder", to: folder)
      }
      try about(one.item.nameWithGroup(target ?? .standard)) { try plan(one, index, items, target) }
    }
  }

  private mutating func plan(_ found: ForeignItem, _ index: Int, _ items: OpenItems, _ group: AccessGroup?) throws {
    var number = 1
    while true {
      let item = try found.item.numbered(number)
      let companions = try found.companions.map { Part(item: try item.bareCompanion($0.field), secret: $0.secret) }
      let parts = [Part(item: item, secret: found.secret, former: found.former)] + companions
      let outcomes = try parts.map { try outcome(of: $0, items, group) }
      guard !outcomes.contains(where: { $0.outcome == .conflict }) else {
        guard isRenaming else {
          let name = item.nameWithGroup(group ?? .standard)
          let present = outcomes.first { $0.outcome == .conflict }?.present
          return conflicts.append(Conflict(index: index, nameWithGroup: name, present: present))
        }
        number += 1
        continue
      }
      for (part, (outcome, present, former)) in zip(parts, outcomes) {
        taken[part.item.key(in: group)] = part.secret
        steps.append(
          Step(
            item: part.item, secret: part.secret, former: former, present: present, group: group, outcome: outcome,
            line: found.line))
      }
      return
    }
  }

  /// An import that was interrupted has left a former secret in the place of the newest one, which the next import writes.
  /// - Returns: with the item that is there, and the former secrets that are to be written.
  private func outcome(
    of part: Part, _ items: OpenItems, _ group: AccessGroup?
  ) throws -> (outcome: ImportPlan.Outcome, present: Entry?, former: ArraySlice<HeldSecret>) {
    if let other = taken[part.item.key(in: group)] {
      return (other.secret.isEqual(to: part.secret.secret) ? .identical : .conflict, nil, [])
    }
    guard let present = try items.item(part.item, in: group) else { return (.added, nil, part.former[...]) }
    let stored = try items.keychain.secret(of: present.reference, purpose: "to compare it")
    if stored.isEqual(to: part.secret.secret) { return (.identical, present, []) }
    guard let index = part.former.lastIndex(where: { stored.isEqual(to: $0.secret) }) else {
      return (.conflict, present, [])
    }
    return (.replaced, present, part.former[(index + 1)...])
  }

  /// New items in commits of as many as one request carries, others each in a commit of its own. Those before an interruption are in the
  /// vault.
  func carryOut(in items: OpenItems, _ work: LongWork) throws {
    let writes = steps.filter { $0.outcome != .identical }
    var done = 0
    while done < writes.count {
      do {
        try work.step(UInt64(done), of: UInt64(writes.count))
        let batch = Self.batch(writes[done...])
        if batch.count > 1, try Self.add(batch, in: items) {
          done += batch.count
        } else {
          for write in batch {
            try write.carryOut(in: items)
            done += 1
          }
        }
      } catch {
        throw ImportPlan.failure(error, at: writes[done].nameWithGroup, done: done, of: writes.count)
      }
    }
  }

  /// The first of them, with the new ones that fit into the same request.
  private static func batch(_ writes: ArraySlice<Step>) -> ArraySlice<Step> {
    var byteCount = 0
    let fitting = writes.prefix(NewItems.maximumCount).prefix { write in
      byteCount += write.item.encoded.count + write.secret.count
      return write.isNewAlone && write.group == writes.first?.group && byteCount <= NewItems.aimByteCount
    }
    return fitting.isEmpty ? writes.prefix(1) : fitting
  }

  /// - Returns: False if nothing was added, and each item has to be written by itself: the error of one of them names it then.
  private static func add(_ batch: ArraySlice<Step>, in items: OpenItems) throws -> Bool {
    var secrets = try Secret(count: batch.reduce(0) { $0 + $1.secret.count })
    var end = 0
    for write in batch {
      secrets.write(write.secret.secret, at: end)
      end += write.secret.count
    }
    guard let new = NewItems(batch.map(\.item), batch.map(\.secret.count), secrets: secrets) else { return false }
    do {
      try items.keychain.addAll(new, group: batch.first?.group)
      return true
    } catch let error as KeychainError where error.code == .duplicate || error.code == .notAllowed {
      return false
    }
  }
}

extension ForeignPlan.Step {
  fileprivate var isNewAlone: Bool { present == nil && former.isEmpty }
}

extension ForeignPlan.Step {
  fileprivate func carryOut(in items: OpenItems) throws {
    var secrets = former + [secret]
    let first = secrets.removeFirst()
    let reference =
      if let present {
        try items.keychain.update(present, secret: first.secret)
      } else {
        try items.keychain.add(item, secret: first.secret, group: group)
      }
    for secret in secrets { try items.keychain.update(reference, secret: secret.secret) }
  }
}

extension Item {
  /// The group, the class and the primary attributes.
  fileprivate func key(in group: AccessGroup?) -> [UInt8] {
    Item(itemClass, primaryKey).encoded + Array((group?.name ?? "").utf8)
  }

  /// The item itself, or the one that is called `NAME (2)`.
  fileprivate func numbered(_ number: Int) throws(Failure) -> Item {
    guard number > 1 else { return self }
    var item = self
    let names = AttributeName.named(itemClass)
    let name = names.account ?? names.service
    let text = attributes[name]?.text ?? ""
    item.attributes[name] = try AttributeName.kind(of: name, in: itemClass)
      .parse(text.isEmpty ? "(\(number))" : "\(text) (\(number))", name)
    return item
  }
}

extension ForeignItems {
  /// Names and attributes are listed without a question. An attribute that looks like a secret becomes a companion; an item of which the
  /// name does, such as a token in the place of a user, is left out.
  mutating func hideSecretAttributes() {
    moveAttributes(where: PlainTextOptions.looksLikeSecret)
    leave(.secretName) { $0.item.attributes.contains { PlainTextOptions.looksLikeSecret($0.value.text) } }
  }

  /// A text that is too long for an attribute becomes a companion.
  mutating func leaveOtherNames() {
    moveAttributes { $0.utf8.count > Attributes.maximumValueByteCount }
    for index in items.indices where items[index].attributeByteCount > ForeignItem.maximumAttributeByteCount {
      items[index].moveAttributes { $0.utf8.count > 1024 }
    }
    leave(.nameNotAllowed) { found in
      let names = ItemName.parts(of: found.item)
      return [names.service, names.account].contains { (try? ItemName.check($0, "name")) == nil }
        || found.companions.contains { (try? ItemName.check(names.service + Companions.mark + $0.field, "name")) == nil }
        || found.item.attributes.contains { $0.name.utf8.count > Attributes.maximumNameByteCount }
    }
  }

  private mutating func moveAttributes(where matches: (String) -> Bool) {
    for index in items.indices { items[index].moveAttributes(where: matches) }
  }
}

extension ForeignItem {
  /// All attributes of an item have 1 MiB, together with the list of its former versions.
  fileprivate static let maximumAttributeByteCount = 1 << 19

  fileprivate var attributeByteCount: Int {
    item.attributes.reduce(0) { $0 + $1.name.utf8.count + $1.value.text.utf8.count }
  }

  fileprivate mutating func moveAttributes(where matches: (String) -> Bool) {
    let names = Set(item.primaryKey.map(\.name))
    for (name, value) in item.attributes where !names.contains(name) && matches(value.text) {
      guard let secret = try? Secret(copying: Array(value.text.utf8)) else { continue }
      let field = name.hasPrefix(Item.userPrefix) ? String(name.dropFirst(Item.userPrefix.count)) : name
      add(.init(field: field, secret: HeldSecret(secret)))
      item.attributes[name] = nil
    }
  }
}
