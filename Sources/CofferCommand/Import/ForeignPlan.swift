import Coffer
import CofferConsole
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
    /// `added` or `identical`.
    let outcome: ImportPlan.Outcome
    let line: Int
  }

  private(set) var steps: [Step] = []
  /// nil: that of the app in whose name the command works.
  let group: AccessGroup?
  private let isRenaming: Bool
  /// The items of the file by their names here.
  private var taken: [[UInt8]: HeldSecret] = [:]

  /// - Parameter isRenaming: Whether an item of a name that the vault has with another secret gets another name.
  /// - Throws: duplicate, if it does not.
  init(
    for found: [ForeignItem], in items: OpenItems, group: AccessGroup?, _ work: LongWork, isRenaming: Bool = true
  ) throws {
    self.group = group
    self.isRenaming = isRenaming
    for (index, one) in found.enumerated() {
      try work.step(UInt64(index), of: UInt64(found.count))
      try about(one.item.nameWithGroup(group ?? .standard)) { try plan(one, items) }
    }
  }

  private mutating func plan(_ found: ForeignItem, _ items: OpenItems) throws {
    var number = 1
    while true {
      let item = try found.item.numbered(number)
      let parts = try [(item, found.secret)] + found.companions.map { (try item.bareCompanion($0.field), $0.secret) }
      let outcomes = try parts.map { try outcome(of: $0.0, $0.1, items) }
      guard !outcomes.contains(.conflict) else {
        guard isRenaming else {
          throw Failure(
            .duplicate,
            "\(item.nameWithGroup(group ?? .standard)): the vault has another secret of this name; nothing has been changed",
            hint: "look which of the two is right, then remove the other: coffer secret rm")
        }
        number += 1
        continue
      }
      for (part, outcome) in zip(parts, outcomes) {
        taken[part.0.key] = part.1
        steps.append(Step(item: part.0, secret: part.1, outcome: outcome, line: found.line))
      }
      return
    }
  }

  private func outcome(of item: Item, _ secret: HeldSecret, _ items: OpenItems) throws -> ImportPlan.Outcome {
    if let other = taken[item.key] { return other.secret.isEqual(to: secret.secret) ? .identical : .conflict }
    guard let present = try items.item(item, in: group) else { return .added }
    let stored = try items.keychain.secret(of: present.reference, purpose: "to compare it")
    return stored.isEqual(to: secret.secret) ? .identical : .conflict
  }

  /// Each item in a commit of its own, as `ImportPlan.carryOut`.
  func carryOut(in items: OpenItems, _ work: LongWork) throws {
    let writes = steps.filter { $0.outcome == .added }
    for (index, write) in writes.enumerated() {
      do {
        try work.step(UInt64(index), of: UInt64(writes.count))
        try items.keychain.add(write.item, secret: write.secret.secret, group: group)
      } catch {
        throw ImportPlan.failure(error, at: write.item.nameWithGroup(group ?? .standard), done: index, of: writes.count)
      }
    }
  }
}

extension Item {
  /// The class and the primary attributes.
  fileprivate var key: [UInt8] { Item(itemClass, primaryKey).encoded }

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
  /// Names are listed without a question: a token in the place of a user would be.
  mutating func leaveSecretNames() {
    leave(.secretName) { $0.namesAndAttributes.contains(where: PlainTextOptions.looksLikeSecret) }
  }

  mutating func leaveOtherNames() {
    leave(.nameNotAllowed) { item in
      item.names.contains { (try? ItemName.check($0, "name")) == nil } || item.companions.contains { $0.field.utf8.count > 255 }
    }
    leave(.tooLarge) { $0.item.attributes.contains { ($0.value.text).utf8.count > Attributes.maximumValueByteCount } }
  }
}

extension ForeignItem {
  fileprivate var names: [String] {
    let names = ItemName.parts(of: item)
    return [names.service, names.account]
  }

  fileprivate var namesAndAttributes: [String] { item.attributes.map(\.value.text) }
}
