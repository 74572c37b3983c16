import SecretMemory
package import VaultCore

/// An entry as the engine stores it. Section 3 of docs/sync-format.md.
package struct SealedEntry: Sendable {
  /// In bytes.
  package static let maximumByteCount = 512 << 10
  /// A header, and a box of the shortest length.
  static let minimumByteCount = headerByteCount + 168
  static let headerByteCount = 72
  private static let magic = Array("CofferS1".utf8)

  package let space: Identifier
  package let number: UInt64
  /// C(n − 1).
  package let chain: Digest
  package let epoch: UInt32
  package let clear: [UInt8]
  let box: [UInt8]
  /// A: the header, and the digest of the clear part.
  private let associated: [UInt8]

  /// - Throws: `length`, `magic`.
  package init(parsing bytes: [UInt8]) throws(VoidCause) {
    guard (Self.minimumByteCount...Self.maximumByteCount).contains(bytes.count) else { throw .length }
    let clearCount = Int(UInt32(littleEndian: bytes, at: 68))
    guard clearCount <= bytes.count - Self.minimumByteCount,
      SecretBox.isBoxCount(bytes.count - Self.headerByteCount - clearCount)
    else { throw .length }
    guard Array(bytes.prefix(8)) == Self.magic else { throw .magic }
    guard let space = Identifier(bytes[8..<24]), let chain = Digest(bytes[32..<64]) else { throw .length }
    self.space = space
    self.chain = chain
    number = UInt64(littleEndian: bytes, at: 24)
    epoch = UInt32(littleEndian: bytes, at: 64)
    let boxStart = Self.headerByteCount + clearCount
    clear = Array(bytes[Self.headerByteCount..<boxStart])
    box = Array(bytes[boxStart...])
    associated = Self.associated(Array(bytes.prefix(Self.headerByteCount)), clear)
  }

  private static func associated(_ header: [UInt8], _ clear: [UInt8]) -> [UInt8] {
    header + Digest.hash(clear, byteCount: Digest.byteCount)
  }

  private static func boxKey(_ key: LockedBytes, _ associated: [UInt8]) throws -> Key {
    var context = Context("sync-entry")
    context.append(associated)
    guard let epochKey = try key.key() else { throw VoidCause.seal }
    return try epochKey.derive(context)
  }

  private static func signed(_ associated: [UInt8], _ kind: UInt8, _ author: Identifier, _ payload: LockedBytes) throws -> [UInt8]
  {
    var writer = BodyWriter()
    writer.append(kind)
    writer.append(author)
    writer.append(payload)
    var context = Context("sync-entry")
    context.append(associated)
    context.append(try LockedBytes.hash(try writer.finish().secret).bytes)
    return context.bytes
  }

  /// The bytes of an entry.
  static func seal(
    _ body: Body, clear: [UInt8], position: Position, key: LockedBytes, author: DeviceIdentity, _ values: ValueKey
  ) throws -> [UInt8] {
    let header =
      magic + position.space.bytes + position.number.littleEndianBytes + position.chain.bytes
      + position.epoch.littleEndianBytes + UInt32(clear.count).littleEndianBytes
    let associated = associated(header, clear)
    let (kind, payload) = (body.payload.kind, try body.encoded(by: author.id, values))
    var writer = BodyWriter()
    writer.append(kind)
    writer.append(author.id)
    writer.append(author.signing.sign(try signed(associated, kind, author.id, payload)))
    writer.append(payload)
    return header + clear + (try SecretBox.seal(writer.finish().secret, key: boxKey(key, associated)))
  }

  /// The content of the box, before anything of it is believed.
  struct Opened {
    static let payloadOffset = 81
    let kind: UInt8
    let author: Identifier
    private let signature: [UInt8]
    private let bytes: LockedBytes
    private let associated: [UInt8]

    fileprivate init(_ bytes: LockedBytes, _ associated: [UInt8]) throws {
      var reader = BodyReader(bytes)
      kind = try reader.readInteger()
      author = try reader.readIdentifier()
      signature = try reader.read(Ed25519.signatureByteCount)
      (self.bytes, self.associated) = (bytes, associated)
    }

    func isSigned(by key: [UInt8]) throws -> Bool {
      let payload = LockedBytes(try bytes.secret.copy(Self.payloadOffset, bytes.count - Self.payloadOffset))
      return Ed25519.verifies(signature, of: try signed(associated, kind, author, payload), key)
    }

    func body(_ values: ValueKey) throws -> Body {
      var reader = BodyReader(bytes, from: Self.payloadOffset)
      return try Body(kind: kind, author: author, reading: &reader, values)
    }
  }

  /// - Throws: `seal`, `form`; the errors of locked memory, which do not make an entry void.
  func open(_ key: LockedBytes) throws -> Opened {
    guard let body = try LockedBytes.open(box, under: Self.boxKey(key, associated)) else { throw VoidCause.seal }
    return try Opened(body, associated)
  }
}

/// The place of an entry in the log.
struct Position: Equatable, Sendable {
  var space: Identifier
  /// The number of the next entry.
  var number: UInt64
  /// C of the one before.
  var chain: Digest
  var epoch: UInt32
}

enum Chain {
  /// C(n). Of an entry that is too long only the start counts, so that a reader need not read it.
  static func after(_ chain: Digest, _ entry: [UInt8]) -> Digest {
    var context = Context("sync-chain", reserving: entry.count + 64)
    context.append(chain.bytes)
    context.append(Array(entry.prefix(SealedEntry.maximumByteCount + 1)))
    return context.digest
  }
}
