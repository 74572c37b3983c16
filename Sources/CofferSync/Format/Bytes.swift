package import SecretMemory
package import VaultCore

/// Bytes in locked memory that several values share. They are wiped with the last of them.
package final class LockedBytes: Sendable {
  package let secret: Secret

  package init(_ secret: consuming Secret) { self.secret = secret }

  package var count: Int { secret.count }

  /// A key of the same bytes; nil unless there are 32.
  func key() throws -> Key? { Key(try secret.duplicate()) }

  func isEqual(to other: LockedBytes) -> Bool { secret.isEqual(to: other.secret) }

  /// Opens a BOX.
  /// - Returns: nil for a box that does not open or is not canonical. An error of the machine is thrown, and is not the same.
  static func open(_ box: [UInt8], under key: borrowing Key) throws -> LockedBytes? {
    do {
      return LockedBytes(try SecretBox.open(box, key: key))
    } catch VaultError.Code.sealBroken, VaultError.Code.paddingNotCanonical, VaultError.Code.recordMalformed {
      return nil
    }
  }

  /// HASH of bytes that are secret, without a copy outside of locked memory.
  /// - Parameter count: The number of bytes; nil for all.
  package static func hash(_ bytes: borrowing Secret, count: Int? = nil) throws -> Digest {
    let key = try bytes.withBytes { (bytes) throws(VaultError) in try Key.hash(bytes.extracting(0..<(count ?? bytes.byteCount))) }
    return Digest(key.secret.copyIntoUnprotectedBytes()) ?? .zero
  }
}

/// Reads a layout from front to back. Bytes that are not there are `form`; nothing traps.
package struct BodyReader {
  private let bytes: LockedBytes
  package private(set) var position: Int

  package init(_ bytes: LockedBytes, from position: Int = 0) {
    self.bytes = bytes
    self.position = min(position, bytes.count)
  }

  package var remaining: Int { bytes.count - position }

  private mutating func take(_ count: Int) throws -> Int {
    guard count >= 0 && count <= remaining else { throw VoidCause.form }
    defer { position += count }
    return position
  }

  package mutating func read(_ count: Int) throws -> [UInt8] {
    let start = try take(count)
    return bytes.secret.withBytes { span in
      unsafe span.extracting(start..<start + count).withUnsafeBytes { unsafe [UInt8]($0) }
    }
  }

  /// Bytes that stay in locked memory.
  package mutating func readLocked(_ count: Int) throws -> Secret {
    let start = try take(count)
    return try bytes.secret.copy(start, count)
  }

  /// Writes the bytes that were read since a position.
  package func write(from start: Int, to writer: inout BodyWriter) {
    bytes.secret.withBytes { writer.append($0.extracting(start..<position)) }
  }

  package mutating func readInteger<Value: FixedWidthInteger & BitwiseCopyable>(_: Value.Type = Value.self) throws -> Value {
    let start = try take(Value.bitWidth / 8)
    // `take` has made sure that the bytes are there.
    return bytes.secret.withBytes { Value(littleEndian: unsafe $0.unsafeLoadUnaligned(fromByteOffset: start, as: Value.self)) }
  }

  package mutating func readIdentifier() throws -> Identifier {
    guard let identifier = Identifier(try read(Identifier.byteCount)) else { throw VoidCause.form }
    return identifier
  }

  package mutating func readDigest() throws -> Digest {
    guard let digest = Digest(try read(Digest.byteCount)) else { throw VoidCause.form }
    return digest
  }

  /// text(x): strict UTF-8, 1 to `limit` bytes, without control characters.
  package mutating func readName(atMost limit: Int) throws -> String {
    let count: UInt32 = try readInteger()
    return try readName(count: Int(count), atMost: limit)
  }

  package mutating func readName(count: Int, atMost limit: Int) throws -> String {
    guard (1...limit).contains(count), let text = String(validating: try read(count), as: UTF8.self), !text.hasControlCharacter
    else { throw VoidCause.form }
    return text
  }

  package mutating func readByte(in range: ClosedRange<UInt8>) throws -> UInt8 {
    let byte: UInt8 = try readInteger()
    guard range.contains(byte) else { throw VoidCause.form }
    return byte
  }

  /// Identifiers in strictly ascending order.
  package mutating func readAscending(_ count: Int) throws -> [Identifier] {
    // Not reserved by a count that an attacker chose.
    guard count * Identifier.byteCount <= remaining else { throw VoidCause.form }
    var list: [Identifier] = []
    for _ in 0..<count {
      let next = try readIdentifier()
      guard list.last.map({ $0 < next }) ?? true else { throw VoidCause.form }
      list.append(next)
    }
    return list
  }

  package func readEnd() throws {
    guard remaining == 0 else { throw VoidCause.form }
  }
}

/// Writes a layout whose parts may be secret, in locked memory.
package struct BodyWriter: ~Copyable {
  /// Those of the slots of locked memory.
  private static let sizes = [256, 4096]

  /// The bytes, with room for more.
  private var room: Secret?
  /// The first error of locked memory: what is thrown in the end.
  private var failure: VaultError?
  package private(set) var count = 0

  package init() {}

  mutating func append(_ bytes: RawSpan) {
    do {
      try reserve(bytes.byteCount)
      room?.write(bytes, at: count)
    } catch {
      failure = failure ?? error
      room = nil
    }
    count += bytes.byteCount
  }

  private mutating func reserve(_ added: Int) throws(VaultError) {
    if let failure { throw failure }
    let present = room?.count ?? 0
    guard count + added > present else { return }
    let size = Self.sizes.first { count + added <= $0 } ?? max(count + added, min(2 * present, Secret.maximumCount))
    var larger = try Secret(count: size)
    room?.withBytes { larger.write($0, at: 0) }
    room = consume larger
  }

  package mutating func append(_ bytes: [UInt8]) { unsafe append(bytes.span.bytes) }
  package mutating func append(_ secret: borrowing Secret) { secret.withBytes { append($0) } }
  package mutating func append(_ locked: LockedBytes) { append(locked.secret) }

  // A state has millions of these: each as an array would be much of the time to write it.

  package mutating func append(_ integer: some FixedWidthInteger) {
    unsafe withUnsafeBytes(of: integer.littleEndian) { unsafe append($0.bytes) }
  }

  package mutating func append(_ identifier: Identifier) {
    let bytes = InlineArray<16, UInt8> { identifier.byte(at: $0) }
    unsafe append(bytes.span.bytes)
  }

  package mutating func append(_ digest: Digest) { append(digest.bytes) }

  package mutating func append(text: String) {
    append(UInt32(text.utf8.count))
    append(Array(text.utf8))
  }

  /// Writes over bytes that are there.
  mutating func write(_ integer: some FixedWidthInteger, at offset: Int) { room?.write(integer.littleEndianBytes, at: offset) }

  /// HASH of the bytes so far.
  package func hash() throws -> Digest {
    if let failure { throw failure }
    switch room {
    case .some(let room): return try LockedBytes.hash(room, count: count)
    case .none: return try LockedBytes.hash(Secret(count: 0))
    }
  }

  /// Takes the bytes out.
  package mutating func finish() throws -> LockedBytes {
    defer { self = BodyWriter() }
    if let failure { throw failure }
    var bytes = try room.take() ?? Secret(count: 0)
    bytes.truncate(to: count)
    return LockedBytes(bytes)
  }
}

extension FixedWidthInteger {
  package var littleEndianBytes: [UInt8] {
    stride(from: 0, to: bitWidth, by: 8).map { UInt8(truncatingIfNeeded: self >> Self($0)) }
  }

  /// Reads the integer at an offset; the bytes must be there.
  init(littleEndian bytes: [UInt8], at offset: Int) {
    self = 0
    for index in 0..<Self.bitWidth / 8 { self |= Self(truncatingIfNeeded: bytes[offset + index]) << Self(8 * index) }
  }
}

extension Context {
  /// HASH("coffer/v1/" ‖ label ‖ 00 ‖ …). Section 1 of docs/sync-format.md.
  var digest: Digest { Digest(Digest.hash(bytes, byteCount: Digest.byteCount)) ?? .zero }
  /// TAG of the same.
  var tag: Identifier { digest.identifier }

  mutating func append(text: String) { appendCounted(Array(text.utf8)) }
}
