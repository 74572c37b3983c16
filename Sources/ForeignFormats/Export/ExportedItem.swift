package import ProgramSecrets
package import VaultCore

/// An item of the vault with all that a file in plain text may hold of it.
package struct ExportedItem: Sendable {
  /// The parts of an item that are known before its secrets are read.
  package struct Outline: Sendable {
    package let item: Item
    package let service: String
    package let account: String
    package let group: AccessGroup
    /// The names of its companions.
    package let fields: [String]

    package init(_ item: Item, service: String, account: String, group: AccessGroup, fields: [String]) {
      (self.item, self.service, self.account, self.group, self.fields) = (item, service, account, group, fields)
    }
  }

  package struct Former: Sendable {
    /// At which another secret took its place, as ISO 8601.
    package let time: String
    package let secret: HeldSecret

    package init(time: String, secret: HeldSecret) { (self.time, self.secret) = (time, secret) }
  }

  package let outline: Outline
  package let secret: HeldSecret
  /// The oldest first.
  package var former: [Former] = []
  package var companions: [ForeignItem.Companion] = []

  package init(_ outline: Outline, _ secret: HeldSecret) { (self.outline, self.secret) = (outline, secret) }
}

extension ExportedItem.Outline {
  /// Empty for that of an import without `--groups`.
  var folder: String { group == .standard ? "" : group.name }

  /// The names and texts that the item has beside its names, its label and its URLs, as an import takes them.
  var texts: [(name: String, text: String)] {
    let places = places.count
    return item.attributes.compactMap { name, value in
      guard case .text(let text) = value, !text.isEmpty else { return nil }
      if name == "comment" { return (ForeignEntry.comment, text) }
      guard name.hasPrefix(Item.userPrefix) else { return nil }
      let own = String(name.dropFirst(Item.userPrefix.count))
      return (0..<places).contains { own == Self.place($0) } ? nil : (own, text)
    }
  }

  /// `url`, `url-2` and so on, as far as there are some; for an internet password without them its parts.
  var places: [String] {
    var places: [String] = []
    while case .text(let place)? = item.attributes[Item.userPrefix + Self.place(places.count)] { places.append(place) }
    guard places.isEmpty, item.itemClass == .internetPassword, let scheme = item["protocol"] else { return places }
    var place = "\(scheme)://\(service)"
    if case .integer(let port)? = item.attributes["port"] { place += ":\(port)" }
    return [place + (item["path"] ?? "")]
  }

  private static func place(_ index: Int) -> String { index == 0 ? "url" : "url-\(index + 1)" }
}

/// A part of an item that the file does not hold, or that an import does not read as it was.
package struct ExportLoss: Sendable, Equatable {
  package enum Reason: String, CaseIterable, Sendable {
    /// Bytes that are not text, in a format of texts.
    case notText = "not-text"
    case noPlace = "no-place"
    /// Imported items are generic passwords.
    case otherClass = "other-class"
    /// Another item of the file has the name.
    case sameName = "same-name"
    /// A variable has a name of its own form.
    case notVariable = "not-a-variable"
    /// The import would read it as something else.
    case changed
  }

  /// `item`, `class`, `attribute NAME`, `companion NAME`, `versions`: never a part of a value.
  package let part: String
  package let reason: Reason

  package init(_ part: String, _ reason: Reason) { (self.part, self.reason) = (part, reason) }

  static func attribute(_ name: String, _ reason: Reason) -> ExportLoss {
    ExportLoss("attribute \(name.hasPrefix(Item.userPrefix) ? String(name.dropFirst(Item.userPrefix.count)) : name)", reason)
  }

  static func companion(_ field: String, _ reason: Reason) -> ExportLoss { ExportLoss("companion \(field)", reason) }
}
