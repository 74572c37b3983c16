package import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// A format of plain text to which items are exported.
package protocol ExportFormat {
  /// Before the first record, between two and behind the last one.
  var head: String { get }
  var separator: String { get }
  var tail: String { get }
  var holdsVersions: Bool { get }
  /// Whether two items of different classes may have one name.
  var holdsNamesTwice: Bool { get }

  /// The record of an item, of which each secret is text.
  /// - Returns: nil if the format cannot name the item.
  func record(of item: ExportedItem) throws -> [HeldSecret]?
  /// The items of a whole file, as the import reads them.
  func items(of text: SourceText, like item: ExportedItem) throws -> ForeignItems
}

extension ExportFormat {
  /// The record of an item, and what it lacks. It is read back as the import reads it, so that each difference is known.
  /// - Returns: The text, in pieces; nil if the file cannot hold the item at all.
  /// - Throws: as `Secret(count:)`.
  package func written(_ item: ExportedItem) throws -> (record: [HeldSecret]?, losses: [ExportLoss]) {
    guard item.secret.isText else { return (nil, item.losses(.notText)) }
    var text = item
    text.companions.removeAll { !$0.secret.isText }
    text.former.removeAll { !$0.secret.isText }
    guard let record = try record(of: text) else {
      return (nil, item.losses(.notVariable))
    }
    do {
      let found = try items(of: SourceText(of: [HeldSecret(text: head)] + record + [HeldSecret(text: tail)]), like: item)
      return (record, item.losses(reading: found))
    } catch is ForeignError {
      // A zero byte in a format without escapes.
      return (nil, item.losses(.notText))
    }
  }
}

extension ExportedItem {
  /// All of it.
  fileprivate func losses(_ reason: ExportLoss.Reason) -> [ExportLoss] {
    [ExportLoss("item", reason)] + companions.map { .companion($0.field, reason) }
  }

  /// The parts that the items of an import lack.
  fileprivate func losses(reading items: ForeignItems) -> [ExportLoss] {
    var losses: [ExportLoss] = []
    guard items.items.count == 1, let found = items.items.first, found.secret.secret.isEqual(to: secret.secret),
      (found.item["service"] ?? "").utf8.elementsEqual(outline.service.utf8),
      (found.item["account"] ?? "").utf8.elementsEqual(outline.account.utf8)
    else { return self.losses(.changed) }
    if outline.item.itemClass != .genericPassword { losses.append(ExportLoss("class", .otherClass)) }
    losses += attributeLosses(found)
    for companion in companions {
      guard let other = found.companions.first(where: { $0.field.utf8.elementsEqual(companion.field.utf8) }) else {
        losses.append(.companion(companion.field, companion.secret.isText ? .noPlace : .notText))
        continue
      }
      if !other.secret.secret.isEqual(to: companion.secret.secret) { losses.append(.companion(companion.field, .changed)) }
    }
    let isSame =
      found.former.count == former.count && zip(found.former, former).allSatisfy { $0.secret.isEqual(to: $1.secret.secret) }
    if !isSame { losses.append(ExportLoss("versions", former.allSatisfy(\.secret.isText) ? .changed : .notText)) }
    return losses
  }

  private func attributeLosses(_ found: ForeignItem) -> [ExportLoss] {
    let names = ["service", "server", "account", "created", "modified"]
    return outline.item.attributes.compactMap { name, value in
      guard !names.contains(name), found.item.attributes[name] != value else { return nil }
      return .attribute(name, found.item.attributes[name] == nil ? .noPlace : .changed)
    }
  }
}
