import CofferSync
import SecretMemory
import VaultCore

/// The writes that a device is about to make in the vault. They are noted before, so that after a crash they are not taken for changes
/// of a person.
struct Plan {
  struct Step {
    let tag: Identifier
    /// nil: the item is removed.
    let row: KnownRow?
    /// The digests of the values that are written one after the other. The last one is that of the row.
    let digests: [Digest]
  }

  var steps: [Step] = []

  init() {}

  init(nextPart: () throws -> LockedBytes?) throws {
    // A part that is missing at the end is noticed.
    guard let head = try nextPart() else { throw VoidCause.form }
    var reader = BodyReader(head)
    let stepCount: UInt64 = try reader.readInteger()
    try reader.readEnd()
    while let frame = try nextPart() {
      var reader = BodyReader(frame)
      while reader.remaining > 0 {
        let tag = try reader.readIdentifier()
        let isWritten = try reader.readByte(in: 0...1) == 1
        let row = isWritten ? try KnownRow(reading: &reader) : nil
        let count: UInt32 = try reader.readInteger()
        steps.append(Step(tag: tag, row: row, digests: try (0..<count).map { _ in try reader.readDigest() }))
      }
    }
    guard steps.count == stepCount else { throw VoidCause.form }
  }

  func store(_ body: (LockedBytes) throws -> Void) throws {
    var head = BodyWriter()
    head.append(UInt64(steps.count))
    try body(head.finish())
    try StateFiles.frames(steps, body) { step, writer in
      writer.append(step.tag)
      writer.append(UInt8(step.row == nil ? 0 : 1))
      step.row?.write(to: &writer)
      writer.append(UInt32(step.digests.count))
      for digest in step.digests { writer.append(digest) }
    }
  }
}

/// The value of an item: what its registers 1 and 2 hold.
struct ItemValue {
  /// One request of an agent holds this: the longest secret, and attributes beside it.
  static let maximumByteCount = Padding.maximumCount + 2_048

  let content: ItemContent
  let secret: LockedBytes

  /// - Throws: `VoidCause.form` for an item that is not shared.
  init(_ entry: Entry, secret: consuming Secret) throws {
    content = try ItemContent(entry)
    self.secret = LockedBytes(secret)
  }

  init(_ content: ItemContent, _ secret: LockedBytes) { (self.content, self.secret) = (content, secret) }

  /// Keyed by 32 secret bytes, so that no value can be guessed from it.
  func digest(_ key: LockedBytes) throws -> Digest {
    var writer = BodyWriter()
    writer.append(key)
    let content = content.bytes
    writer.append(UInt32(content.count))
    writer.append(content)
    writer.append(secret)
    return try LockedBytes.hash(writer.finish().secret)
  }
}

/// A value that is to be written into the vault. Its secret is opened when it is.
struct PlannedValue {
  let content: ItemContent
  let secret: SealedSecret

  var byteCount: Int { content.bytes.count + secret.count }
  /// Whether a part of it is an object of the engine.
  var isLarge: Bool { max(content.bytes.count, secret.count) > Value.maximumInlineCount }
}

extension ItemContent {
  /// The times of the item are those of each vault.
  /// - Throws: `VoidCause.form` for an item that is not shared.
  init(_ entry: Entry) throws {
    var item = entry.item
    for name in ["created", "modified"] { item.attributes[name] = nil }
    try self.init(item, in: entry.reference.group, accessibility: entry.accessibility)
  }
}
