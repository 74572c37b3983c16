package import KeyedHashes

/// How codes are made from a seed: RFC 4226 and RFC 6238.
package struct CodeParameters: Sendable, Equatable {
  package enum Moment: Sendable, Equatable {
    /// A code for each period of so many seconds.
    case time(period: UInt64)
    /// A code for each number, which grows with each use.
    case counter(UInt64)
  }

  package var algorithm = KeyedHash.sha1
  package var digits = 6
  package var moment = Moment.time(period: 30)

  package static let digitCounts = 6...8
  package static let periods: ClosedRange<UInt64> = 1...300

  package init() {}
}

extension KeyedHash {
  /// - Parameter name: As URIs have it, with a hyphen or without, in both cases.
  package init?(codeAlgorithm name: String) {
    self.init(rawValue: name.lowercased().filter { $0 != "-" })
  }
}
