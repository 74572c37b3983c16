package import CofferRequests

/// The kind of a frame: a request, part of an answer, or part of the exchange around them.
package enum FrameKind: Hashable, Sendable {
  case request(Request.Kind)
  /// Returns the number of a challenge.
  case introduce
  case done
  /// Part of an answer; others follow.
  case part
  case failed
  /// Changes; others follow until one side closes.
  case notices
  /// A number to be returned before the request is sent again. See `Challenge`.
  case challenge

  package init?(rawValue: UInt16) {
    switch rawValue {
    case 15: self = .introduce
    case 128: self = .done
    case 129: self = .part
    case 130: self = .failed
    case 131: self = .notices
    case 132: self = .challenge
    default:
      guard let kind = Request.Kind(rawValue: rawValue) else { return nil }
      self = .request(kind)
    }
  }

  package var rawValue: UInt16 {
    switch self {
    case .request(let kind): kind.rawValue
    case .introduce: 15
    case .done: 128
    case .part: 129
    case .failed: 130
    case .notices: 131
    case .challenge: 132
    }
  }

  /// The largest body, in bytes. Requests that any program may send are small: a program without rights keeps no place for a large frame.
  package var maximumBodyByteCount: Int {
    let isLarge =
      switch self {
      case .request(let kind): kind.traits.isLarge
      case .introduce: false
      case .done, .part, .failed, .notices, .challenge: true
      }
    return isLarge ? WireLimits.frameByteCount - FrameHeader.byteCount : WireLimits.smallBodyByteCount
  }
}
