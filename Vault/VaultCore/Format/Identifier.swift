/// 16 bytes that name a vault, a record, a group or a slot. Ordered as the bytes are.
public struct Identifier: Hashable, Sendable, Comparable {
  /// The length of an identifier, in bytes.
  public static let byteCount = 16
  /// The identifier of zeros.
  public static let zero = Identifier(high: 0, low: 0)

  private let high: UInt64
  private let low: UInt64

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Nil unless there are exactly 16 bytes.
  public init?(_ bytes: [UInt8]) {
    self.init(bytes[...])
  }

  /// Nil unless there are exactly 16 bytes.
  ///
  /// Not generic over collections: other modules would run it unspecialised, at 1 us for each call.
  public init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var (high, low) = (UInt64(0), UInt64(0))
    for offset in 0..<8 {
      high = high << 8 | UInt64(bytes[bytes.startIndex + offset])
      low = low << 8 | UInt64(bytes[bytes.startIndex + offset + 8])
    }
    self.init(high: high, low: low)
  }

  /// The bytes of the identifier.
  public var bytes: [UInt8] {
    [UInt8](capacity: Self.byteCount) { output in
      for offset in 0..<Self.byteCount { output.append(byte(at: offset)) }
    }
  }

  /// The byte at `offset`, 0 to 15.
  public func byte(at offset: Int) -> UInt8 {
    let half = offset < 8 ? high : low
    return UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (offset & 7)))
  }

  /// The identifier of a record of kinds 2 to 5 with this digest: a byte of 00, then the first 15.
  package var ofSystemRecord: Identifier { Identifier(high: high >> 8, low: high << 56 | low >> 8) }

  /// The identifier of an item with this digest: the first byte becomes one of 01 to 7F.
  package var ofItem: Identifier { Identifier(high: (1 + (high >> 56) % 127) << 56 | high & 0x00FF_FFFF_FFFF_FFFF, low: low) }

  /// The identifier of a former version with this digest: the first byte becomes one of 80 to FF.
  var ofFormerVersion: Identifier { Identifier(high: high | 1 << 63, low: low) }

  public static func < (left: Identifier, right: Identifier) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}

extension Identifier: CustomStringConvertible {
  /// 32 hexadecimal digits.
  public var description: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
