package import CofferRequests

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

/// The kind of a frame: a request, part of an answer, or part of the exchange around them.
package enum FrameKind: Hashable, Sendable {
  case request(Request.Kind)
  /// Returns the number of a challenge.
  case introduce
  /// The client's reply to a question.
  case reply
  /// Comes with a descriptor, and has no content.
  case descriptor
  case done
  /// Part of an answer; others follow.
  case part
  case failed
  /// Changes; others follow until one side closes.
  case notices
  /// A number to be returned before the request is sent again. See `Challenge`.
  case challenge
  /// How far work on a whole vault has come; others follow.
  case progress
  /// A question to the client. The next frame is its reply.
  case question

  package init?(rawValue: UInt16) {
    switch rawValue {
    case 15: self = .introduce
    case 30: self = .reply
    case 31: self = .descriptor
    case 128: self = .done
    case 129: self = .part
    case 130: self = .failed
    case 131: self = .notices
    case 132: self = .challenge
    case 133: self = .progress
    case 134: self = .question
    default:
      guard let kind = Request.Kind(rawValue: rawValue) else { return nil }
      self = .request(kind)
    }
  }

  package var rawValue: UInt16 {
    switch self {
    case .request(let kind): kind.rawValue
    case .introduce: 15
    case .reply: 30
    case .descriptor: 31
    case .done: 128
    case .part: 129
    case .failed: 130
    case .notices: 131
    case .challenge: 132
    case .progress: 133
    case .question: 134
    }
  }

  /// The largest body, in bytes. Requests that any program may send are small: a program without rights keeps no place for a large frame.
  package var maximumBodyByteCount: Int {
    let isLarge =
      switch self {
      case .request(let kind): kind.traits.isLarge
      case .introduce, .reply, .descriptor, .progress: false
      case .done, .part, .failed, .notices, .challenge, .question: true
      }
    return isLarge ? WireLimits.frameByteCount - FrameHeader.byteCount : WireLimits.smallBodyByteCount
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
