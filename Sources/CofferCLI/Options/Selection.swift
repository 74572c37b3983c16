import VaultCore

/// Finds the one item that a name means.
struct Selection {
  let name: ItemName
  let itemClass: ItemClass

  init(_ options: ItemOptions) throws(Failure) {
    try self.init(options.itemName(), options.itemClass.itemClass)
  }

  init(_ name: ItemName, _ itemClass: ItemClass) throws(Failure) {
    self.name = name
    self.itemClass = itemClass
    _ = try name.item(itemClass)
  }

  init(name: String, group: String?, _ itemClass: ItemClass) throws(Failure) {
    var parsed = try ItemName(parsing: name)
    if let group {
      guard parsed.group == nil || parsed.group == group else { throw .usage("group: the name says one, --group another") }
      parsed.group = group
    }
    try self.init(parsed, itemClass)
  }

  var group: AccessGroup {
    get throws { try name.group.map { try AccessGroup($0) } ?? .standard }
  }

  /// - Throws: `notFound`, also for a group that is not there, and `severalMatch` with the candidates.
  func one(in vault: borrowing Vault) throws -> Entry {
    let group = try group
    try vault.checkExists(group)
    if let entry = try vault.entry(name.item(itemClass), in: group) { return entry }
    guard name.account == nil else { throw none }
    let candidates = try vault.entries(in: group) { candidate in
      candidate.item.itemClass == itemClass && ItemName.parts(of: candidate.item).service.utf8.elementsEqual(name.service.utf8)
    }
    .entries
    guard let first = candidates.first else { throw none }
    guard candidates.count == 1 else {
      throw Failure(
        .severalMatch, "\(name): \(candidates.count) items match", hint: "name one: SERVICE/ACCOUNT",
        details: candidates.map(\.name).sorted())
    }
    return first
  }

  private var none: Failure {
    Failure(.notFound, "\(name): no such item", hint: "coffer secret list shows the items there are")
  }
}

extension Vault {
  /// - Throws: not found, with the groups that there are.
  borrowing func checkExists(_ group: AccessGroup) throws {
    guard try !contains(group) else { return }
    let groups = try groups()
    throw Failure(
      .notFound, "group \(group.name): there is none", hint: "--create-group makes it when an item is set or moved",
      details: groups.map { "group \($0.name)" })
  }

  /// Whether the group is still to be made.
  /// - Throws: not found, where it is not there and `isCreated` is false.
  borrowing func lacks(_ group: AccessGroup, isCreated: Bool) throws -> Bool {
    guard isCreated else {
      try checkExists(group)
      return false
    }
    return try !contains(group)
  }
}

extension Transaction {
  /// A group that was not there; somebody else may have made it since.
  mutating func makeGroup(_ group: AccessGroup) throws {
    do { try createGroup(group, at: .now()) } catch VaultError.Code.groupExists {}
  }
}
