package import SecretMemory

/// The class, names and attributes of an item: everything but its secret. Section 8.6 of FORMAT.md.
public struct Item: Equatable, Sendable {
  /// In bytes of UTF-8, for each attribute that makes an item unique.
  public static let maximumPrimaryTextByteCount = 1024
  /// The prefix of attributes that the user names.
  public static let userPrefix = "user."
  /// The attribute that names the app, as `TEAM.identifier`, with whose removal the item goes.
  public static let installBound = "install-bound"
  /// The attribute that says that the owner is asked before the secret is given to anybody else.
  public static let confirm = "confirm"

  /// The class, which decides the primary attributes.
  public let itemClass: ItemClass
  /// All attributes, by name.
  public var attributes: Attributes

  /// An item of a class with attributes.
  public init(_ itemClass: ItemClass, _ attributes: Attributes = Attributes()) {
    self.itemClass = itemClass
    self.attributes = attributes
  }

  /// A generic password.
  public init(service: String, account: String) {
    self.init(.genericPassword)
    self["service"] = service
    self["account"] = account
  }

  /// A text attribute; the empty text is an absent one.
  public subscript(name: String) -> String? {
    get { if case .text(let text)? = attributes[name] { text } else { nil } }
    set { attributes[name] = newValue.flatMap { $0.isEmpty ? nil : .text($0) } }
  }

  /// A short text for people.
  public var label: String? {
    get { self["label"] }
    set { self["label"] = newValue }
  }

  /// A longer text for people.
  public var comment: String? {
    get { self["comment"] }
    set { self["comment"] = newValue }
  }

  /// Set by the vault.
  public internal(set) var created: Timestamp? {
    get { time("created") }
    set { attributes["created"] = newValue.map { .time($0) } }
  }

  /// Set by the vault.
  public package(set) var modified: Timestamp? {
    get { time("modified") }
    set { attributes["modified"] = newValue.map { .time($0) } }
  }

  private func time(_ name: String) -> Timestamp? {
    if case .time(let time)? = attributes[name] { time } else { nil }
  }

  /// All primary attributes of the class, absent ones as their empty value: what the item's identifier is made from.
  package var primaryKey: Attributes {
    var key = Attributes()
    for (name, absent) in itemClass.primaryAttributes { key[name] = attributes[name] ?? absent }
    return key
  }

  /// Checks what a caller wants to store, and drops empty primary attributes: they are absent.
  /// - Parameter existing: attributes that the vault has already. A later version may have put names there that this one does
  ///   not know.
  /// - Throws: `nameNotAllowed`, `nameTooLong`, `attributeNotAllowed`.
  func checked(keeping existing: Attributes = Attributes()) throws(VaultError) -> Item {
    var item = self
    let known = itemClass.primaryAttributes + ItemClass.commonAttributes
    for (name, value) in attributes where existing[name] != value {
      guard !name.isEmpty, !name.hasControlCharacter else { throw VaultError(.nameNotAllowed, "an attribute's name") }
      guard name.utf8.count <= Attributes.maximumNameByteCount else { throw VaultError(.nameTooLong, "an attribute's name") }
      guard value.bytes.count <= Attributes.maximumValueByteCount else {
        throw VaultError(.attributeNotAllowed, "\(name): too long")
      }
      if let standard = known.first(where: { $0.name.order(name) == 0 }) {
        guard standard.absent.type == value.type else { throw VaultError(.attributeNotAllowed, "\(name): another type") }
      } else if !name.utf8.starts(with: Item.userPrefix.utf8) || name.utf8.count == Item.userPrefix.utf8.count {
        throw VaultError(.attributeNotAllowed, "\(name): neither standard nor \(Item.userPrefix)…")
      }
    }
    for (name, absent) in itemClass.primaryAttributes {
      guard let value = attributes[name] else { continue }
      if value == absent { item.attributes[name] = nil }
      guard case .text(let text) = value else { continue }
      guard !text.hasControlCharacter else { throw VaultError(.nameNotAllowed, name) }
      guard text.utf8.count <= Item.maximumPrimaryTextByteCount else { throw VaultError(.nameTooLong, name) }
    }
    return item
  }

  /// Whether both have the same value: everything but the names and the times.
  package func hasValue(of other: Item) -> Bool {
    var (left, right) = (self, other)
    for (name, _) in itemClass.primaryAttributes + [("created", .text("")), ("modified", .text(""))] {
      (left.attributes[name], right.attributes[name]) = (nil, nil)
    }
    return left == right
  }

  /// All attributes, as bytes.
  package var encoded: [UInt8] { encoded(HistoryMarks(former: [], number: nil)) }

  /// The plaintext of the record's field `a`.
  package func encoded(_ marks: HistoryMarks) -> [UInt8] {
    var all = attributes
    marks.write(into: &all)
    all["class"] = .integer(UInt64(itemClass.rawValue))
    return TLV.encode(all)
  }

  /// - Throws: `attributesMalformed`.
  package init(decoding bytes: [UInt8]) throws(VaultError) {
    var attributes = try TLV.decode(bytes)
    guard case .integer(let rawClass)? = attributes["class"], let raw = UInt8(exactly: rawClass),
      let itemClass = ItemClass(rawValue: raw)
    else { throw VaultError(.attributesMalformed, "no class") }
    attributes["class"] = nil
    for (name, absent) in itemClass.primaryAttributes {
      guard let value = attributes[name] else { continue }
      guard value.type == absent.type, value != absent else { throw VaultError(.attributesMalformed, name) }
    }
    for (name, absent) in ItemClass.commonAttributes {
      guard attributes[name].map({ $0.type == absent.type }) ?? true else { throw VaultError(.attributesMalformed, name) }
    }
    self.init(itemClass, attributes)
  }
}
