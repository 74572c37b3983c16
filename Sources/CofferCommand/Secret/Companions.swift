import Coffer
import CofferConsole
import CofferRequests
import VaultCore

/// Companions are further secrets of an item, such as its PIN or its codes: items of the same class, group and account that are called
/// `SERVICE#FIELD`. They have rights and a log of their own, and come along if the item is removed, moved or renamed.
enum Companions {
  static let mark = "#"
}

extension OpenItems {
  /// The companions of an item, in the order of their names. None if the caller may not list the group.
  func companions(of entry: Entry) throws -> [Entry] {
    let (service, account) = ItemName.parts(of: entry.item)
    guard let accountName = AttributeName.named(entry.item.itemClass).account else { return [] }
    var query = KeychainQuery(entry.item.itemClass, group: entry.reference.group)
    query.attributes[accountName] = entry.item.attributes[accountName]
    let begin = Array((service + Companions.mark).utf8)
    do {
      let found = try keychain.listing(query).entries.filter { other in
        let name = ItemName.parts(of: other.item)
        return name.service.utf8.starts(with: begin) && name.service.utf8.count > begin.count
          && name.account.utf8.elementsEqual(account.utf8)
      }
      return found.sorted { $0.name < $1.name }
    } catch let error as KeychainError where error.code == .missingEntitlement {
      return []
    }
  }

  /// - Throws: `duplicate`, if another item has the primary attributes of `item` in `group`.
  func checkIsFree(_ item: Item, in group: AccessGroup, for entry: Entry) throws {
    var query = KeychainQuery(item.itemClass, group: group)
    for (name, absent) in item.itemClass.primaryAttributes { query.attributes[name] = item.attributes[name] ?? absent }
    do {
      guard try keychain.listing(query).entries.allSatisfy({ $0.reference == entry.reference }) else {
        throw KeychainError(.duplicate)
      }
    } catch let error as KeychainError where [.missingEntitlement, .notFound].contains(error.code) {
      // The move itself finds out.
    }
  }
}

extension Entry {
  /// The part of the name of a companion behind that of its item, with the mark.
  func field(of item: Entry) -> String {
    let service = ItemName.parts(of: self.item).service
    return String(service.dropFirst(ItemName.parts(of: item.item).service.count))
  }
}

extension Item {
  /// The companion of an item of this name.
  /// - Parameter field: With the mark.
  func companion(_ field: String) throws(Failure) -> Item {
    var item = self
    let name = AttributeName.named(itemClass).service
    item.attributes[name] = try AttributeName.kind(of: name, in: itemClass).parse(ItemName.parts(of: self).service + field, name)
    return item
  }

  /// A new companion, which has the primary attributes alone.
  /// - Parameter field: Without the mark.
  func bareCompanion(_ field: String) throws(Failure) -> Item {
    var item = Item(itemClass)
    for (name, _) in itemClass.primaryAttributes { item.attributes[name] = attributes[name] }
    return try item.companion(Companions.mark + field)
  }
}
