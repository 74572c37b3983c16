package import VaultCore

/// A part of an item or setting that changes, and conflicts, apart from the others.
package enum Register: UInt8, CaseIterable, Sendable {
  case content = 1
  case secret, life
}

package enum Kind: UInt8, CaseIterable, Sendable {
  case item = 1
  case setting

  func has(_ register: Register) -> Bool { self == .item || register != .secret }
}

/// A change of an item or a setting, fixed when it is made. Section 5 of docs/sync-format.md.
package struct Operation: Equatable, Sendable {
  package struct Part: Equatable, Sendable {
    package let register: Register
    /// The writes that the author saw, ascending.
    package let replaced: [Identifier]
    package let value: Value
  }

  private static let authorBit: UInt8 = 0x80
  /// The most operations, and bytes of them, that a device puts into one entry.
  static let batch = (count: 256, bytes: 256 << 10)

  package let kind: Kind
  package let author: Identifier
  package let tag: Identifier
  package let modified: Int64
  package let parts: [Part]
  package let dot: Identifier

  /// - Parameter parts: ascending by register.
  init(_ kind: Kind, author: Identifier, tag: Identifier, modified: Int64, parts: [Part], _ values: ValueKey) throws {
    (self.kind, self.author, self.tag, self.modified, self.parts) = (kind, author, tag, modified, parts)
    dot = try Self.dot(kind, author, tag) { try Self.write(modified, parts, to: &$0, values) }
  }

  package subscript(register: Register) -> Part? { parts.first { $0.register == register } }

  private static func dot(
    _ kind: Kind, _ author: Identifier, _ tag: Identifier, _ writeRest: (inout BodyWriter) throws -> Void
  ) throws -> Identifier {
    var context = Context("sync-dot")
    context.append(author)
    context.append(kind.rawValue)
    context.append(tag)
    var writer = BodyWriter()
    writer.append(context.bytes)
    try writeRest(&writer)
    return try writer.hash().identifier
  }

  private static func write(_ modified: Int64, _ parts: [Part], to writer: inout BodyWriter, _ values: ValueKey) throws {
    writer.append(modified)
    writer.append(UInt8(parts.count))
    for part in parts {
      writer.append(part.register.rawValue)
      writer.append(UInt16(part.replaced.count))
      for dot in part.replaced { writer.append(dot) }
      try part.value.write(to: &writer, values)
    }
  }

  func write(to writer: inout BodyWriter, sender: Identifier, _ values: ValueKey) throws {
    writer.append(kind.rawValue | (author == sender ? 0 : Self.authorBit))
    if author != sender { writer.append(author) }
    writer.append(tag)
    writer.append(dot)
    try Self.write(modified, parts, to: &writer, values)
  }

  /// - Throws: `form`.
  init(reading reader: inout BodyReader, sender: Identifier, _ values: ValueKey) throws {
    let type: UInt8 = try reader.readInteger()
    guard let kind = Kind(rawValue: type & ~Self.authorBit) else { throw VoidCause.form }
    self.kind = kind
    author = type & Self.authorBit == 0 ? sender : try reader.readIdentifier()
    guard type & Self.authorBit == 0 || author != sender else { throw VoidCause.form }
    tag = try reader.readIdentifier()
    dot = try reader.readIdentifier()
    let start = reader.position
    modified = try reader.readInteger()
    let count = try reader.readByte(in: 1...3)
    var parts: [Part] = []
    for _ in 0..<count {
      guard let register = Register(rawValue: try reader.readInteger()), kind.has(register),
        parts.last.map({ $0.register.rawValue < register.rawValue }) ?? true
      else { throw VoidCause.form }
      let replacedCount: UInt16 = try reader.readInteger()
      let replaced = try reader.readAscending(Int(replacedCount))
      let value = try Value(reading: &reader, of: register, kind, values)
      if register == .life { guard value == Self.alive || value == Self.deleted else { throw VoidCause.form } }
      parts.append(Part(register: register, replaced: replaced, value: value))
    }
    self.parts = parts
    let read = try Self.dot(kind, author, tag) { reader.write(from: start, to: &$0) }
    guard dot == read else { throw VoidCause.form }
  }

  static let alive = Value.clear([1])
  static let deleted = Value.clear([0])
}
