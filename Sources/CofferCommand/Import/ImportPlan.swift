import Coffer
import CofferConsole
import CofferLifecycle
import SecretMemory
import VaultCore

/// The effect of an import on each item, decided before anything is written.
struct ImportPlan {
  enum Outcome: String {
    case added
    /// The vault has the item with the same secret and attributes.
    case identical
    /// The vault has another value under this name.
    case conflict
    /// The value of the other vault takes the place of the one here, which becomes a former version.
    case replaced
    /// The value here stays.
    case kept
  }

  struct Step {
    let entry: Entry
    /// The item of this name in the vault.
    let present: Entry?
    var outcome: Outcome
  }

  private(set) var steps: [Step] = []

  var conflicts: [Step] { steps.filter { $0.outcome == .conflict } }

  init(for entries: [Entry], of source: borrowing Vault, named file: String, in items: OpenItems, step: Backup.Step) throws {
    for (index, entry) in entries.enumerated() {
      try step(UInt64(index), UInt64(entries.count))
      let planned = try about(entry.nameWithGroup) {
        let present = try items.item(named: entry)
        return Step(entry: entry, present: present, outcome: try Self.outcome(entry, present, source, file, items))
      }
      steps.append(planned)
    }
  }

  private static func outcome(
    _ entry: Entry, _ present: Entry?, _ source: borrowing Vault, _ file: String, _ items: OpenItems
  ) throws -> Outcome {
    guard let present else { return .added }
    guard entry.item.hasValue(of: present.item.bound(as: entry.item)) else { return .conflict }
    let secret = try secret(of: entry, in: source, file)
    return try items.keychain.secret(of: present.reference, purpose: "to compare it").isEqual(to: secret)
      ? .identical : .conflict
  }

  /// - Throws: An error that is one of the other vault: its hints name that.
  private static func secret(of entry: Entry, in source: borrowing Vault, _ file: String) throws -> Secret {
    do { return try source.secret(of: entry.reference) } catch {
      throw Failure(error, about: "\(file): \(entry.nameWithGroup)").naming(vault: file)
    }
  }

  /// Decides what happens to items with another value.
  mutating func settle(_ outcome: Outcome) {
    for index in steps.indices where steps[index].outcome == .conflict { steps[index].outcome = outcome }
  }

  /// Each item in a commit of its own, with its group if that is not there. An item that was changed since the plan was made is
  /// left as it is.
  /// - Returns: How many values were replaced that are no former versions now, because the policy keeps none.
  /// - Throws: cancelled, and the errors of single items. Those before them are in the vault.
  func carryOut(from source: borrowing Vault, named file: String, in items: OpenItems, step: Backup.Step) throws -> Int {
    let writes = steps.filter { $0.outcome == .added || $0.outcome == .replaced }
    var lostCount = 0
    for (index, write) in writes.enumerated() {
      do {
        try step(UInt64(index), UInt64(writes.count))
        if try !Self.write(write, from: source, file, in: items) { lostCount += 1 }
      } catch {
        throw Self.failure(error, at: write.entry.nameWithGroup, done: index, of: writes.count)
      }
    }
    return lostCount
  }

  /// - Returns: False if a value was replaced that cannot be restored.
  private static func write(_ step: Step, from source: borrowing Vault, _ file: String, in items: OpenItems) throws -> Bool {
    let entry = step.entry
    let secret = try secret(of: entry, in: source, file)
    guard let present = step.present else {
      try items.keychain.add(entry.item, secret: secret, group: entry.reference.group, accessible: entry.accessibility)
      return true
    }
    let item = entry.item.bound(as: present.item)
    let changed = Entry(
      reference: present.reference, item: item, accessibility: present.accessibility, generation: present.generation)
    let written = try items.keychain.update(changed, secret: secret)
    return try items.keychain.history(of: written).contains { $0.state == .changed }
  }

  /// - Parameter done: The items that are in the vault.
  static func failure(_ error: any Error, at name: String, done: Int, of count: Int) -> Failure {
    var failure = Failure(error, about: name)
    if failure.status == .duplicate {
      // The plan had no such item.
      failure = Failure(
        .duplicate, "\(name): another command has made this item meanwhile", hint: "the same command again goes on")
    }
    guard done > 0 else { return failure }
    let progress = "\(done) of \(counted(count, "item")) copied, and in the vault"
    guard failure.status != .cancelled else {
      return Failure(.cancelled, "cancelled: \(progress)", hint: "the same command copies the others")
    }
    return Failure(failure.status, failure.message, hint: failure.hint, details: failure.details + [progress])
  }
}

extension Item {
  /// Bound to the same app as another item, or to none. The binding is the vault's.
  fileprivate func bound(as other: Item) -> Item {
    var item = self
    item.attributes[Item.installBound] = other.attributes[Item.installBound]
    return item
  }
}

extension OpenItems {
  /// The item of the same class, name and group.
  fileprivate func item(named entry: Entry) throws -> Entry? {
    try item(entry.item, in: entry.reference.group)
  }

  /// The item with all of these primary attributes: one proven look-up.
  func item(_ item: Item, in group: AccessGroup?) throws -> Entry? {
    var query = KeychainQuery(item.itemClass, group: group)
    for (name, absent) in item.itemClass.primaryAttributes { query.attributes[name] = item.attributes[name] ?? absent }
    return try keychain.items(query).first
  }
}
