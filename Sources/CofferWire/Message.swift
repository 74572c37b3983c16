package import SecretMemory
package import VaultCore

/// The content of a frame: fields with names, encoded items, and at most one secret, which stays in locked memory on both ends.
///
///     u32  bytes of the fields      as the vault encodes attributes (FORMAT.md, 8.1): by name, each once
///     u16  number of parts
///     u32  bytes of a part, and they, for each
///          the secret: all the rest
package struct Message: ~Copyable, Sendable {
  package var fields = Attributes()
  package var parts: [[UInt8]] = []
  package var secret: Secret?

  /// Bytes that are neither part of the fields nor of the secret.
  private static let fixedByteCount = 6

  // MARK: Out

  /// The whole frame, in locked memory if there is a secret in it.
  /// - Throws: `WireError`: `frameLength`; `VaultError` of locked memory.
  package consuming func frame(_ kind: FrameKind, request: UInt64) throws -> Secret {
    var open: [UInt8] = []
    let fields = TLV.encode(fields)
    open.append(littleEndian: UInt32(fields.count))
    open += fields
    open.append(littleEndian: UInt16(parts.count))
    for part in parts {
      open.append(littleEndian: UInt32(part.count))
      open += part
    }
    guard parts.count <= WireLimits.partCount, open.count <= WireLimits.partByteCount + Self.fixedByteCount else {
      throw WireError(.frameLength, "\(open.count) bytes beside the secret")
    }
    let secretCount = secret.count
    let body = open.count + secretCount
    guard body <= kind.maximumBodyByteCount else { throw WireError(.frameLength, "\(kind): \(body) bytes") }
    let head = FrameHeader(kind, request: request, bodyByteCount: body).bytes + open
    var frame = try Secret(count: head.count + secretCount)
    unsafe frame.write(head.span.bytes, at: 0)
    if case .some(let secret) = secret { secret.withBytes { frame.write($0, at: head.count) } }
    return frame
  }

}

// MARK: In

extension Message {
  /// - Parameter body: The bytes after the header.
  /// - Throws: `WireError`: `malformed`; `VaultError` of locked memory.
  package init(parsing body: borrowing Secret) throws {
    let (fields, parts, start) = try body.withBytes { (bytes) throws(WireError) in try Self.open(bytes) }
    let decoded: Attributes
    do { decoded = try TLV.decode(fields) } catch { throw WireError(.malformed, "the fields") }
    let secret = start == body.count ? nil : try body.withBytes { try Secret(copying: $0.extracting(start..<body.count)) }
    self.init(fields: decoded, parts: parts, secret: secret)
  }

  private static func open(_ bytes: RawSpan) throws(WireError) -> (fields: [UInt8], parts: [[UInt8]], secret: Int) {
    var position = 0
    func take(_ count: Int) throws(WireError) -> Range<Int> {
      guard count <= bytes.byteCount - position else { throw WireError(.malformed, "ends early") }
      defer { position += count }
      return position..<position + count
    }
    func counted() throws(WireError) -> [UInt8] {
      let length: UInt32 = bytes.integer(at: try take(4).lowerBound)
      guard length <= UInt32(WireLimits.partByteCount) else { throw WireError(.malformed, "a part of \(length) bytes") }
      return bytes.array(try take(Int(length)))
    }
    let fields = try counted()
    let count: UInt16 = bytes.integer(at: try take(2).lowerBound)
    guard count <= UInt16(WireLimits.partCount) else { throw WireError(.malformed, "\(count) parts") }
    var parts: [[UInt8]] = []
    for _ in 0..<count { parts.append(try counted()) }
    return (fields, parts, position)
  }
}

extension Secret? {
  fileprivate var count: Int {
    borrowing get {
      switch self {
      case .some(let secret): secret.count
      case .none: 0
      }
    }
  }
}
