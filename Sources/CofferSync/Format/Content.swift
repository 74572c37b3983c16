import SecretMemory
package import VaultCore

/// Register 1 of an item. Section 5.1 of docs/sync-format.md.
package struct ItemContent: Equatable, Sendable {
  /// The attributes that each vault has for itself: the state of the log, the history of the item, its times, and the app of this machine
  /// with which it goes.
  static let localAttributes = [
    "sync", "former", "origin", "origin-version", "replaced", "deleted", "created", "modified", Item.installBound,
  ]
  /// Agents hand on no item with more attributes.
  package static let maximumByteCount = 480 << 10
  /// Groups that hold the keys of the devices never leave a vault.
  private static let localPrefix = "coffer."

  package let accessibility: Accessibility
  package let group: AccessGroup
  package let item: Item

  /// - Throws: `form`, for an item that is not shared.
  package init(_ item: Item, in group: AccessGroup, accessibility: Accessibility) throws {
    guard !accessibility.isThisDeviceOnly, !group.name.utf8.starts(with: Self.localPrefix.utf8),
      Self.localAttributes.allSatisfy({ item.attributes[$0] == nil })
    else { throw VoidCause.form }
    (self.item, self.group, self.accessibility) = (item, group, accessibility)
  }

  package var bytes: [UInt8] {
    let name = Array(group.name.utf8)
    return [accessibility.rawValue] + UInt32(name.count).littleEndianBytes + name + item.encoded
  }

  /// - Throws: `form`, also for an item that no vault accepts.
  package init(parsing bytes: [UInt8]) throws {
    guard (5...Self.maximumByteCount).contains(bytes.count), let accessibility = Accessibility(rawValue: bytes[0]) else {
      throw VoidCause.form
    }
    let count = Int(UInt32(littleEndian: bytes, at: 1))
    guard count <= bytes.count - 5, let name = String(validating: bytes[5..<5 + count], as: UTF8.self) else {
      throw VoidCause.form
    }
    do {
      let item = try Item(decoding: Array(bytes[(5 + count)...]))
      for (name, _) in item.itemClass.primaryAttributes {
        guard case .text(let text)? = item.attributes[name] else { continue }
        guard !text.hasControlCharacter, text.utf8.count <= Item.maximumPrimaryTextByteCount else { throw VoidCause.form }
      }
      try self.init(item, in: try AccessGroup(name), accessibility: accessibility)
    } catch is VaultError {
      throw VoidCause.form
    }
  }

  package var tag: Identifier {
    var context = Context("sync-item")
    context.append(text: group.name)
    context.append(item.itemClass.rawValue)
    context.append(TLV.encode(item.primaryKey))
    return context.tag
  }
}
