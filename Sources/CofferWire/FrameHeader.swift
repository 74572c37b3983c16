/// The first 16 bytes of a frame: `u32` bytes that follow the header, `u16` version, `u16` operation, `u64` number of the request. The lowest
/// byte first.
package struct FrameHeader: Equatable, Sendable {
  package static let byteCount = 16
  package static let version: UInt16 = 1

  package let kind: FrameKind
  /// Chosen by who asks; the answers bear it.
  package let request: UInt64
  package let bodyByteCount: Int

  package init(_ kind: FrameKind, request: UInt64, bodyByteCount: Int) {
    self.kind = kind
    self.request = request
    self.bodyByteCount = bodyByteCount
  }

  /// - Throws: `frameLength`, `version`, `operation`.
  package init(parsing bytes: RawSpan) throws(WireError) {
    guard bytes.byteCount == Self.byteCount else { throw WireError(.frameLength, "\(bytes.byteCount) bytes of a header") }
    let count: UInt32 = bytes.integer(at: 0)
    let version: UInt16 = bytes.integer(at: 4)
    guard version == Self.version else { throw WireError(.version, "\(version)") }
    let raw: UInt16 = bytes.integer(at: 6)
    guard let kind = FrameKind(rawValue: raw) else { throw WireError(.operation, "\(raw)") }
    guard count <= UInt32(kind.maximumBodyByteCount) else { throw WireError(.frameLength, "\(kind): \(count) bytes") }
    self.kind = kind
    request = bytes.integer(at: 8)
    bodyByteCount = Int(count)
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: UInt32(bodyByteCount))
    bytes.append(littleEndian: Self.version)
    bytes.append(littleEndian: kind.rawValue)
    bytes.append(littleEndian: request)
    return bytes
  }
}

extension RawSpan {
  /// The caller has made sure that the bytes are there.
  func integer<Value: FixedWidthInteger>(at offset: Int) -> Value {
    var value: Value = 0
    for index in 0..<Value.bitWidth / 8 {
      value |= Value(truncatingIfNeeded: unsafe unsafeLoad(fromByteOffset: offset + index, as: UInt8.self)) << Value(8 * index)
    }
    return value
  }

  /// A copy of bytes that are no secret.
  func array(_ range: Range<Int>) -> [UInt8] {
    unsafe extracting(range).withUnsafeBytes { unsafe [UInt8]($0) }
  }
}

extension [UInt8] {
  mutating func append<Value: FixedWidthInteger>(littleEndian value: Value) {
    for index in 0..<Value.bitWidth / 8 { append(UInt8(truncatingIfNeeded: value >> Value(8 * index))) }
  }
}
