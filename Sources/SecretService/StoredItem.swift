import Coffer
import VaultCore

/// An item of the service as the vault keeps it: a generic password, whose account is the last part of its path.
struct StoredItem: Sendable {
  static let service = "item"
  static let contentType = "content-type"
  static let plainText = "text/plain"

  let entry: Entry
  let collection: String
  let id: String

  /// Returns nil if it was not made by this service, or for it.
  init?(_ entry: Entry) {
    let item = entry.item
    guard let collection = CollectionGroup.name(of: entry.reference.group), item.itemClass == .genericPassword,
      item["service"] == Self.service, let id = item["account"], ObjectPath.isElement(id)
    else { return nil }
    (self.entry, self.collection, self.id) = (entry, collection, id)
  }

  var path: String { ObjectPath.item(collection, id) }
  var label: String { entry.item.label ?? "" }
  var created: UInt64 { UInt64(max(0, entry.item.created?.secondsSince1970 ?? 0)) }
  var modified: UInt64 { UInt64(max(0, entry.item.modified?.secondsSince1970 ?? 0)) }

  var attributes: [String: String] {
    var texts: [String: String] = [:]
    for (name, value) in entry.item.attributes where name.hasPrefix(Item.userPrefix) {
      if case .text(let text) = value { texts[String(name.dropFirst(Item.userPrefix.count))] = text }
    }
    return texts
  }

  /// libsecret takes text for text only if nothing follows the type.
  var contentType: String {
    let type = entry.item[Self.contentType] ?? Self.plainText
    return type.hasPrefix(Self.plainText + ";") ? Self.plainText : type
  }

  /// The newest first. Times are in seconds, so the generation of the vault decides between items of one second.
  static func isBefore(_ left: StoredItem, _ right: StoredItem) -> Bool {
    (left.modified, left.entry.generation) > (right.modified, right.entry.generation)
  }
}

/// The group of a collection.
enum CollectionGroup {
  /// Also holds what the service keeps of collections and aliases.
  static let root = "secret-service"

  static func group(_ name: String) throws -> AccessGroup { try AccessGroup("\(root)/\(name)") }

  static func name(of group: AccessGroup) -> String? {
    let prefix = root + "/"
    guard group.name.hasPrefix(prefix) else { return nil }
    let name = String(group.name.dropFirst(prefix.count))
    return ObjectPath.isElement(name) ? name : nil
  }
}

extension ObjectPath {
  /// Whether the text may be one part of a path.
  static func isElement(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}
