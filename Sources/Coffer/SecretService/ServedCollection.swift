import CofferRequests
import SecretMemory
package import VaultCore

/// A collection of the Secret Service, but for its items.
package struct ServedCollection: Equatable, Sendable {
  package let name: String
  package var label: String
  package var created: UInt64 = 0
  package var modified: UInt64 = 0

  package static let loginName = "login"
  /// It is there from the start, before anything was kept.
  package static let login = ServedCollection(name: loginName, label: "Login")

  package static let sessionName = "session"
  /// Its items are in the memory of the process that serves them.
  package static let session = ServedCollection(name: sessionName, label: "Session")

  /// It is made by no program, and stays.
  package var isFixed: Bool { name == Self.loginName || name == Self.sessionName }
}

/// All collections, and the names that lead to some of them.
package struct ServedCatalog: Sendable {
  package var collections = [ServedCollection.login, .session]
  package var aliases = ServedCatalog.fixed
  /// From the vault; false while the vault was never unlocked.
  package var isComplete = false

  package init() {}

  private static let fixed = [
    "default": ServedCollection.loginName, "login": ServedCollection.loginName, "session": ServedCollection.sessionName,
  ]
}

/// The group of a collection.
package enum CollectionGroup {
  package static let maximumNameByteCount = 64

  package static func group(_ name: String) throws -> AccessGroup { try AccessGroup("\(AccessGroup.secretService.name)/\(name)") }

  package static func name(of group: AccessGroup) -> String? {
    let prefix = AccessGroup.secretService.name + "/"
    guard group.name.hasPrefix(prefix) else { return nil }
    let name = String(group.name.dropFirst(prefix.count))
    return isElement(name) ? name : nil
  }

  /// Whether the text may be one part of a path on the bus.
  package static func isElement(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "_") }
  }

  /// The name of a collection in paths: other bytes of its label as `_xx`.
  package static func name(from label: String) -> String {
    var name = ""
    for byte in label.utf8 {
      if isPlain(byte) {
        name.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        name += "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      guard name.utf8.count <= maximumNameByteCount - 8 else { break }
    }
    return name.isEmpty ? "_" : String(name.prefix(maximumNameByteCount - 8))
  }

  static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }
}

/// Collections and aliases as notes in the group `secret-service`.
extension Keychain {
  fileprivate static let collectionPrefix = "collection/"
  fileprivate static let aliasPrefix = "alias/"
  fileprivate static let target = Item.userPrefix + "collection"

  package func servedCatalog() throws -> ServedCatalog {
    var catalog = ServedCatalog()
    catalog.isComplete = true
    for entry in try items(KeychainQuery(.note, group: .secretService)) { catalog.add(entry.item) }
    return catalog
  }

  /// - Returns: False if there is one of this name.
  package func addCollection(named name: String, label: String) throws -> Bool { try addNote(Self.note(name, label)) }

  /// - Parameter taken: Another program may take more of them at any time.
  /// - Returns: Its name.
  package func addCollection(_ label: String, besides taken: Set<String>) throws -> String {
    let base = CollectionGroup.name(from: label)
    var name = base
    var number = 1
    while try name == AppKey.collection || taken.contains(name) || !addCollection(named: name, label: label) {
      number += 1
      name = "\(base)_\(number)"
    }
    return name
  }

  package func relabelCollection(_ name: String, as label: String) throws {
    try putNote(Self.note(name, label)) { $0.label = label }
  }

  package func removeCollectionNote(_ name: String) throws { try removeNote(Self.note(name, "")) }

  /// - Returns: False if there is one of this name.
  package func addAlias(_ alias: String, to collection: String) throws -> Bool {
    try addNote(Self.note(alias: alias, collection))
  }

  /// - Parameter collection: nil: none.
  package func setAlias(_ alias: String, to collection: String?) throws {
    let note = Self.note(alias: alias, collection)
    guard let collection else { return try removeNote(note) }
    try putNote(note) { $0[Self.target] = collection }
  }

  private static func note(_ name: String, _ label: String) -> Item {
    var note = Item(.note)
    note["title"] = collectionPrefix + name
    note.label = label
    return note
  }

  private static func note(alias: String, _ collection: String?) -> Item {
    var note = Item(.note)
    note["title"] = aliasPrefix + alias
    note[target] = collection
    return note
  }

  private func addNote(_ note: Item) throws -> Bool {
    do {
      try add(note, secret: try Secret(count: 0), group: .secretService, accessible: .afterFirstUnlock)
      return true
    } catch KeychainError.Code.duplicate {
      return false
    }
  }

  private func putNote(_ note: Item, _ change: (inout Item) -> Void) throws {
    guard try !addNote(note) else { return }
    try update(item(KeychainQuery(.note, group: .secretService, attributes: note.primaryKey)).reference, change)
  }

  private func removeNote(_ note: Item) throws {
    do { try remove(note, in: .secretService) } catch KeychainError.Code.notFound {}
  }
}

extension ServedCatalog {
  /// - Parameter note: One of the group `secret-service`.
  package mutating func add(_ note: Item) {
    let title = note["title"] ?? ""
    if title.hasPrefix(Keychain.collectionPrefix) {
      let name = String(title.dropFirst(Keychain.collectionPrefix.count))
      guard CollectionGroup.isElement(name), name != ServedCollection.sessionName else { return }
      collections.removeAll { $0.name == name }
      collections.append(
        ServedCollection(
          name: name, label: note.label ?? "", created: Self.seconds(note.created), modified: Self.seconds(note.modified)))
    } else if title.hasPrefix(Keychain.aliasPrefix), let target = note[Keychain.target] {
      aliases[String(title.dropFirst(Keychain.aliasPrefix.count))] = target
    }
  }

  private static func seconds(_ time: Timestamp?) -> UInt64 { UInt64(max(0, time?.secondsSince1970 ?? 0)) }
}
