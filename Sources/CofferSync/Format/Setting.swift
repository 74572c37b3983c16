package import VaultCore

/// The store of an app, and a key in it. Section 5.2 of docs/sync-format.md.
package struct SettingName: Hashable, Comparable, Sendable {
  // Names are bytes: texts that Unicode takes for equal are apart, as their tags are.
  package static let maximumStoreByteCount = 255
  package static let maximumKeyByteCount = 64

  package let store: String
  package let key: String

  /// - Throws: `form`, for one that is empty or too long, and a store with a control character.
  package init(store: String, key: String) throws {
    guard (1...Self.maximumStoreByteCount).contains(store.utf8.count), !store.hasControlCharacter,
      (1...Self.maximumKeyByteCount).contains(key.utf8.count)
    else { throw VoidCause.form }
    (self.store, self.key) = (store, key)
  }

  package var bytes: [UInt8] {
    let (store, key) = (Array(store.utf8), Array(key.utf8))
    return UInt16(store.count).littleEndianBytes + store + UInt16(key.count).littleEndianBytes + key
  }

  /// - Parameter read: Returns as many bytes as it is asked for.
  init(_ read: (Int) throws -> [UInt8]) throws {
    func text() throws -> String {
      let count = UInt16(littleEndian: try read(2), at: 0)
      guard let text = String(validating: try read(Int(count)), as: UTF8.self) else { throw VoidCause.form }
      return text
    }
    let store = try text()
    try self.init(store: store, key: text())
  }

  package var tag: Identifier {
    var context = Context("sync-setting")
    context.append(text: store)
    context.append(text: key)
    return context.tag
  }

  package static func == (left: SettingName, right: SettingName) -> Bool { left.bytes == right.bytes }
  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
  package static func < (left: SettingName, right: SettingName) -> Bool {
    if left.store.utf8.elementsEqual(right.store.utf8) { return left.key.utf8.lexicographicallyPrecedes(right.key.utf8) }
    return left.store.utf8.lexicographicallyPrecedes(right.store.utf8)
  }
}

/// Register 1 of a setting. Section 5.2 of docs/sync-format.md.
package struct SettingContent: Equatable, Sendable {
  package static let maximumValueByteCount = Padding.maximumCount

  package let name: SettingName
  /// As in the journal of settings.
  package let value: [UInt8]

  /// - Throws: `form`, for an empty value, and one that is too long.
  package init(_ name: SettingName, value: [UInt8]) throws {
    guard (1...Self.maximumValueByteCount).contains(value.count) else { throw VoidCause.form }
    (self.name, self.value) = (name, value)
  }

  package init(store: String, key: String, value: [UInt8]) throws {
    try self.init(SettingName(store: store, key: key), value: value)
  }

  package var bytes: [UInt8] { name.bytes + value }

  /// - Throws: `form`.
  package init(parsing bytes: [UInt8]) throws {
    var rest = bytes[...]
    let name = try SettingName { count in
      guard count <= rest.count else { throw VoidCause.form }
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    try self.init(name, value: Array(rest))
  }
}
