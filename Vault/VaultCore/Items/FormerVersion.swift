package import SecretMemory

/// A former version of an item, as the item's list names it. Its row holds the attributes and the secret.
/// Section 8.9 of FORMAT.md.
public struct FormerVersion: Hashable, Sendable {
  /// The most of one item.
  public static let maximumCount = 64
  fileprivate static let byteCount = 32

  /// The identifier that the item had.
  package let origin: Identifier
  /// The generation of the write that made the value.
  public let number: UInt64
  /// The time at which another value took its place, or at which the item was removed.
  public let replaced: Timestamp

  package init(origin: Identifier, number: UInt64, replaced: Timestamp) {
    (self.origin, self.number, self.replaced) = (origin, number, replaced)
  }

  package static func isNewer(_ left: FormerVersion, _ right: FormerVersion) -> Bool {
    (left.replaced, left.number, left.origin) > (right.replaced, right.number, right.origin)
  }
}

/// The attributes beside an item's own: they name its versions. No client reads or writes them.
package struct HistoryMarks: Equatable {
  /// The name of the attribute that has the number.
  package static let numberName = "origin-version"
  /// Newest first.
  package var former: [FormerVersion] = []
  /// The generation of the write that made the value, if a later one wrote the row.
  package var number: UInt64?
  var origin: Identifier?
  var replaced: Timestamp?
  var deleted: Timestamp?

  package init(former: [FormerVersion], number: UInt64?) { (self.former, self.number) = (former, number) }

  /// Those of the row of a former version, or, if `former` is given, of a head.
  package init(_ version: FormerVersion, former: [FormerVersion]?) {
    (origin, number, self.former) = (version.origin, version.number, former ?? [])
    if former == nil { replaced = version.replaced } else { deleted = version.replaced }
  }

  /// - Throws: `attributesMalformed`.
  package init(takenFrom item: inout Item, isItem: Bool) throws(VaultError) {
    func take(_ name: String) -> AttributeValue? {
      defer { item.attributes[name] = nil }
      return item.attributes[name]
    }
    switch take("former") {
    case nil: break
    case .data(let bytes)?: former = try Self.decode(bytes)
    default: throw VaultError(.attributesMalformed, "former")
    }
    switch take(Self.numberName) {
    case nil where isItem: break
    case .integer(let version)?: number = version
    default: throw VaultError(.attributesMalformed, Self.numberName)
    }
    guard !isItem else { return }
    switch (take("origin"), take("replaced"), take("deleted")) {
    case (.data(let bytes)?, .time(let time)?, nil) where former.isEmpty: (origin, replaced) = (Identifier(bytes), time)
    case (.data(let bytes)?, nil, .time(let time)?): (origin, deleted) = (Identifier(bytes), time)
    default: throw VaultError(.attributesMalformed, "a former version")
    }
  }

  func write(into attributes: inout Attributes) {
    if !former.isEmpty { attributes["former"] = .data(former.flatMap(Self.encode)) }
    attributes[Self.numberName] = number.map { .integer($0) }
    attributes["origin"] = origin.map { .data($0.bytes) }
    attributes["replaced"] = replaced.map { .time($0) }
    attributes["deleted"] = deleted.map { .time($0) }
  }

  private static func encode(_ version: FormerVersion) -> [UInt8] {
    var bytes = version.origin.bytes
    bytes.append(littleEndian: version.number)
    bytes.append(littleEndian: version.replaced.secondsSince1970)
    return bytes
  }

  private static func decode(_ bytes: [UInt8]) throws(VaultError) -> [FormerVersion] {
    var reader = ByteReader(bytes, orThrow: .attributesMalformed)
    var former: [FormerVersion] = []
    while reader.remaining > 0 {
      let version = FormerVersion(
        origin: try reader.readIdentifier(), number: try reader.readInteger(),
        replaced: Timestamp(secondsSince1970: try reader.readInteger()))
      guard former.last.map({ FormerVersion.isNewer($0, version) }) ?? true else {
        throw VaultError(.attributesMalformed, "former: order")
      }
      former.append(version)
    }
    guard (1...FormerVersion.maximumCount).contains(former.count) else { throw VaultError(.attributesMalformed, "former") }
    return former
  }
}
