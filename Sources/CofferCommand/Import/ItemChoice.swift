import CofferConsole
import VaultCore

/// The items that an export or an import takes: those of names and groups, or all.
struct ItemChoice {
  private let names: [ItemName]
  /// Those of `--group`.
  private let groups: [AccessGroup]

  /// - Throws: usage; `nameNotAllowed`, `nameTooLong` for a group.
  init(names: [String], groups: [String]) throws {
    self.names = try names.map { (text) throws(Failure) in
      let name = try ItemName(parsing: text)
      guard name.field == nil else { throw .usage("name: a field cannot be copied") }
      return name
    }
    self.groups = try groups.map { try AccessGroup($0) }
  }

  /// The groups to look in; nil for all.
  func searchedGroups() throws -> [AccessGroup]? {
    guard !names.isEmpty || !groups.isEmpty else { return nil }
    let all = try names.isEmpty ? groups : names.flatMap(groups(of:))
    return Set(all).sorted()
  }

  /// A name without a group is one of the groups of `--group`, or of `default`, as for the other verbs.
  private func groups(of name: ItemName) throws -> [AccessGroup] {
    if let group = name.group { return [try AccessGroup(group)] }
    return groups.isEmpty ? [.standard] : groups
  }

  /// The chosen ones of `entries`, each once, by group and name.
  /// - Parameters:
  ///   - place: For messages; empty for the vault.
  ///   - unreadableCount: How many items, of another device, do not open here, and so have no name.
  /// - Throws: `notFound` for a name or a group without an item.
  func chosen(of entries: [Entry], in place: String = "", unreadableCount: Int) throws -> [Entry] {
    let prefix = place.isEmpty ? "" : "\(place): "
    var chosen: Set<Reference> = []
    func take(_ what: String, where isMeant: (Entry) -> Bool) throws {
      let found = entries.filter(isMeant)
      guard !found.isEmpty else {
        throw Failure(
          .notFound, "\(prefix)\(what)",
          hint: unreadableCount == 0
            ? nil
            : "\(counted(unreadableCount, "item")) there sealed for another device, without a name here; on that device, to have it "
              + "everywhere: coffer secret edit NAME --accessible when-unlocked")
      }
      chosen.formUnion(found.map(\.reference))
    }
    for name in names {
      let groups = try groups(of: name)
      try take("\(name): no such item") { groups.contains($0.reference.group) && name.means($0.item) }
    }
    if names.isEmpty {
      for group in groups { try take("group \(group.name): has no item") { $0.reference.group == group } }
    }
    let isAll = names.isEmpty && groups.isEmpty
    return entries.filter { isAll || chosen.contains($0.reference) }
      .sorted { ($0.reference.group.name, $0.name) < ($1.reference.group.name, $1.name) }
  }
}

extension ItemName {
  /// Whether an item of any class has this name. Without an account all accounts of the service are meant.
  fileprivate func means(_ item: Item) -> Bool {
    guard let wanted = try? self.item(item.itemClass) else { return false }
    let account = ItemName.parts(of: item).account
    return wanted.attributes.allSatisfy { item.attributes[$0.name] == $0.value }
      && (self.account.map { account.order($0) == 0 } ?? true)
  }
}
