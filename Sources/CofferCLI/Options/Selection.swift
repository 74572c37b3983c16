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
    do {
      return try exact(in: vault) ?? only(in: vault)
    } catch let error as SelectedIsDamaged {
      throw Failure(error.reason, about: "\(name)")
    }
  }

  /// The item of exactly this name.
  /// - Throws: `notFound` for a group that is not there; `SelectedIsDamaged`.
  func exact(in vault: borrowing Vault) throws -> Entry? {
    let group = try group
    try vault.checkExists(group, hint: "--group names one of these")
    do {
      return try vault.entry(name.item(itemClass), in: group)
    } catch let error as VaultError where error.code.concernsOneRecord {
      throw SelectedIsDamaged(reason: error)
    }
  }

  /// The only item of the service, where no account is named.
  func only(in vault: borrowing Vault) throws -> Entry {
    let group = try group
    guard name.account == nil else { throw none(otherClass(in: vault)) }
    let named = try vault.entries(in: group) { candidate in
      ItemName.parts(of: candidate.item).service.utf8.elementsEqual(name.service.utf8)
    }
    .entries
    let candidates = named.filter { $0.item.itemClass == itemClass }
    guard let first = candidates.first else { throw none(named.first?.item.itemClass) }
    guard candidates.count == 1 else {
      throw Failure(
        .severalMatch, "\(name): \(candidates.count) items match", hint: "name one: SERVICE/ACCOUNT",
        details: candidates.map(\.nameWithGroup).sorted())
    }
    return first
  }

  /// With a hint at what may have been meant.
  private func none(_ otherClass: ItemClass?) -> Failure {
    let classHint = otherClass.map { "there is one of another class: --class \(ClassName($0).rawValue)" }
    return Failure(
      .notFound, "\(name): no such item", hint: attributeHint ?? classHint ?? "coffer secret list shows the items there are")
  }

  /// A name that ends in an attribute is one only in its long form.
  private var attributeHint: String? {
    let text = name.account ?? name.service
    guard let mark = text.lastIndex(of: "#"), mark != text.startIndex else { return nil }
    let item = String(text[..<mark])
    let parts = [name.group ?? AccessGroup.standard.name] + (name.account == nil ? [item] : [name.service, item])
    let field = PercentEncoding.encode(String(text[text.index(after: mark)...]))
    return "an attribute is written coffer://\(parts.map(PercentEncoding.encode).joined(separator: "/"))#\(field)"
  }

  /// Another class that has an item of this name. One look-up for each: a miss in a large vault must cost no walk. What cannot be
  /// told makes no hint.
  private func otherClass(in vault: borrowing Vault) -> ItemClass? {
    for other in ItemClass.allCases where other != itemClass {
      guard let item = try? name.item(other), let group = try? group else { continue }
      if let entry = try? vault.entry(item, in: group), entry.reference.group == group { return other }
    }
    return nil
  }
}

/// The record of the very item that was named is damaged.
struct SelectedIsDamaged: Error {
  let reason: VaultError
}

extension Vault {
  /// - Throws: not found, with the groups that there are, as far as the command may look into them.
  borrowing func checkExists(_ group: AccessGroup, hint: String) throws {
    guard try !contains(group) else { return }
    let access = try ItemAccess(in: self)
    let groups = try groups().filter { access.allows($0, .list) }
    throw Failure(
      .notFound, "group \(group.name): there is none", hint: hint,
      details: groups.map { "group \($0.name)" })
  }

  /// Whether the group is still to be made.
  /// - Throws: not found, where it is not there and `isCreated` is false.
  borrowing func lacks(_ group: AccessGroup, isCreated: Bool) throws -> Bool {
    guard isCreated else {
      try checkExists(group, hint: "--create-group makes it")
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
