import Coffer
import CofferConsole
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// The items of an export in plain text, each with its companions. Their secrets are read one item after the other.
struct PlainItems {
  struct Chosen {
    let entry: Entry
    let outline: ExportedItem.Outline
    fileprivate let companions: [(field: String, entry: Entry)]
  }

  static let purpose = "to export it in plain text"

  private let items: OpenItems
  private(set) var chosen: [Chosen] = []

  /// - Parameter entries: In the order of their names. A companion goes with its item, if that is among them.
  init(_ entries: [Entry], in items: OpenItems) {
    self.items = items
    let byName = Dictionary(entries.map { (Self.key($0), $0) }) { first, _ in first }
    var companions: [[UInt8]: [(field: String, entry: Entry)]] = [:]
    var leading: [Entry] = []
    for entry in entries {
      if let (key, field) = Self.item(of: entry, in: byName) {
        companions[key, default: []].append((field, entry))
      } else {
        leading.append(entry)
      }
    }
    // The order of items of one name is not that of their random identifiers.
    func place(_ entry: Entry) -> (String, String, UInt8) {
      (entry.reference.group.name, entry.name, entry.item.itemClass.rawValue)
    }
    chosen = leading.sorted { place($0) < place($1) }.map { entry in
      let (service, account) = ItemName.parts(of: entry.item)
      let own = companions[Self.key(entry)] ?? []
      let outline = ExportedItem.Outline(
        entry.item, service: service, account: account, group: entry.reference.group, fields: own.map(\.field))
      return Chosen(entry: entry, outline: outline, companions: own)
    }
  }

  /// Group, class and primary attributes, with another service.
  private static func key(_ entry: Entry, service: String? = nil) -> [UInt8] {
    var key = entry.item.primaryKey
    if let service { key[AttributeName.named(entry.item.itemClass).service] = .text(service) }
    return Item(entry.item.itemClass, key).encoded + Array(entry.reference.group.name.utf8)
  }

  private static func item(of entry: Entry, in entries: [[UInt8]: Entry]) -> (key: [UInt8], field: String)? {
    let names = AttributeName.named(entry.item.itemClass)
    guard names.account != nil, case .text(let service)? = entry.item.attributes[names.service] else { return nil }
    for mark in service.indices where service[mark...].hasPrefix(Companions.mark) && mark > service.startIndex {
      let key = key(entry, service: String(service[..<mark]))
      let field = String(service[service.index(after: mark)...])
      if entries[key] != nil, !field.isEmpty { return (key, field) }
    }
    return nil
  }

  /// The item with its secrets, and the losses that are known without its record.
  func read(_ one: Chosen, withVersions: Bool) throws -> (item: ExportedItem, losses: [ExportLoss]) {
    try about(one.entry.nameWithGroup) {
      var item = ExportedItem(one.outline, try secret(one.entry))
      var losses: [ExportLoss] = []
      for (field, entry) in one.companions {
        item.companions.append(.init(field: field, secret: try secret(entry)))
        losses += Self.attributes(of: entry).map { ExportLoss("companion \(field): attribute \($0)", .noPlace) }
        if try !former(entry).isEmpty { losses.append(ExportLoss("companion \(field): versions", .noPlace)) }
      }
      let former = try former(one.entry)
      if withVersions {
        item.former = try former.map { version in
          let secret = try items.keychain.secret(of: one.entry.reference, version: version.number, purpose: Self.purpose)
          return .init(time: version.time?.text ?? "", secret: HeldSecret(secret))
        }
      } else if !former.isEmpty {
        losses.append(ExportLoss("versions", .noPlace))
      }
      return (item, losses)
    }
  }

  private func secret(_ entry: Entry) throws -> HeldSecret {
    HeldSecret(try items.keychain.secret(of: entry.reference, purpose: Self.purpose))
  }

  /// The oldest first.
  private func former(_ entry: Entry) throws -> [KeychainVersion] {
    try items.keychain.history(of: entry.reference).filter { $0.state != .present }.sorted { $0.number < $1.number }
  }

  private static func attributes(of companion: Entry) -> [String] {
    let primary = Set(companion.item.primaryKey.map(\.name))
    return companion.item.attributes.map(\.name).filter { !primary.contains($0) && !["created", "modified"].contains($0) }
  }
}
