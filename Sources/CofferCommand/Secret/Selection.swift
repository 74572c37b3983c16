import Coffer
import CofferConsole
import CofferRequests
import SecretMemory
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

  /// The group to look in. Nil: all that the app has in whose name the command works.
  func group(_ items: OpenItems) throws -> AccessGroup? {
    try items.group(named: name.group)
  }

  /// - Throws: `notFound`, also for a group that is not there, and `severalMatch` with the candidates.
  func one(in items: OpenItems) throws -> Entry {
    do {
      return try exact(in: items) ?? only(in: items)
    } catch let error as SelectedIsUnreadable {
      throw Failure(error.reason, about: "\(name)")
    }
  }

  /// The item of exactly this name.
  /// - Throws: `severalMatch`; `SelectedIsUnreadable`.
  func exact(in items: OpenItems) throws -> Entry? {
    do {
      return try exact(itemClass, in: items)
    } catch let error as KeychainError {
      if error.concernsOneRecord || error.code == .otherDevice { throw SelectedIsUnreadable(reason: error) }
      throw Failure(error, about: "\(name)")
    }
  }

  private func exact(_ itemClass: ItemClass, in items: OpenItems) throws -> Entry? {
    var query = KeychainQuery(itemClass, group: try group(items), attributes: try name.item(itemClass).attributes)
    for (name, absent) in itemClass.primaryAttributes where query.attributes[name] == nil { query.attributes[name] = absent }
    let found = try items.keychain.items(query)
    guard found.count < 2 else {
      throw Failure(
        .severalMatch, "\(name): \(found.count) items match", hint: "name one with its group: coffer://GROUP/SERVICE/ACCOUNT",
        details: found.map(\.nameWithGroup))
    }
    return found.first
  }

  /// The only item of the service, where no account is named.
  /// - Throws: `notFound`, also for a group that is not there, and `severalMatch`.
  func only(in items: OpenItems) throws -> Entry {
    guard name.account == nil else { throw try none(otherClass(in: items), items) }
    let item = try name.item(itemClass)
    let found = try about("\(name)") {
      try items.keychain.items(KeychainQuery(itemClass, group: group(items), attributes: item.attributes))
    }
    guard let first = found.first else { throw try none(otherClassOfService(in: items), items) }
    guard found.count == 1 else {
      throw Failure(
        .severalMatch, "\(name): \(found.count) items match", hint: "name one: SERVICE/ACCOUNT",
        details: found.map(\.nameWithGroup).sorted())
    }
    return first
  }

  /// With a hint at what may have been meant.
  private func none(_ otherClass: ItemClass?, _ items: OpenItems) throws -> Failure {
    if items.application == nil, let group = try group(items) {
      try items.checkExists(group, hint: "--group names one of these")
    }
    let classHint = otherClass.map { "there is one of another class: --class \(ClassName($0).rawValue)" }
    return Failure(
      .notFound, "\(name): no such item",
      hint: attributeHint ?? classHint ?? (items.application == nil ? "coffer secret list shows the items there are" : nil))
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

  /// Another class that has an item of this name. One look-up for each class, because a miss in a large vault must not cost a
  /// walk. If a look-up fails, there is no hint.
  private func otherClass(in items: OpenItems) -> ItemClass? {
    ItemClass.allCases.first { $0 != itemClass && (try? exact($0, in: items)) != nil }
  }

  /// Likewise, of this service. Where only a service was named, there was a walk already.
  private func otherClassOfService(in items: OpenItems) -> ItemClass? {
    guard let all = try? items.keychain.items(KeychainQuery(group: group(items))) else { return nil }
    return all.first { ItemName.parts(of: $0.item).service.utf8.elementsEqual(name.service.utf8) }?.item.itemClass
  }
}

/// The very item that was named is there, but its record is damaged, or was sealed on another device.
struct SelectedIsUnreadable: Error {
  let reason: KeychainError
}

extension OpenItems {
  /// The item that is meant, or its companion, and the attribute if the name ends in one.
  /// - Throws: as `Selection.one`.
  func selected(_ selection: Selection) throws -> (entry: Entry, attribute: AttributeValue?) {
    let entry = try selection.one(in: self)
    guard let field = selection.name.field, field != "secret" else { return (entry, nil) }
    if let value = entry.attribute(field) { return (entry, value) }
    return (try companion(field, of: selection.name, entry), nil)
  }

  /// - Parameter deed: For the owner, if the owner is asked.
  func secret(of entry: Entry, to deed: String) throws -> Secret {
    try about(entry.name) { try keychain.secret(of: entry.reference, purpose: "\(deed) \(entry.nameWithGroup)") }
  }
}
