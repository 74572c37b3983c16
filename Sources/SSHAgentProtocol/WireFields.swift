/// Reads the fields of RFC 4251, section 5, one after another.
package struct WireReader {
  private var rest: ArraySlice<UInt8>

  package init(_ bytes: [UInt8]) { rest = bytes[...] }

  package var isAtEnd: Bool { rest.isEmpty }

  /// Returns nil at the end.
  package mutating func byte() -> UInt8? { rest.popFirst() }

  package mutating func number() -> UInt32? {
    guard rest.count >= 4 else { return nil }
    let number = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    rest = rest.dropFirst(4)
    return number
  }

  /// Returns nil if there are fewer bytes than it says.
  package mutating func string() -> [UInt8]? {
    guard let count = number(), Int(count) <= rest.count else { return nil }
    let bytes = Array(rest.prefix(Int(count)))
    rest = rest.dropFirst(Int(count))
    return bytes
  }

  /// Whether the bytes are the next ones, which are then behind it.
  package mutating func skips(_ bytes: some Collection<UInt8>) -> Bool {
    guard rest.starts(with: bytes) else { return false }
    rest = rest.dropFirst(bytes.count)
    return true
  }
}

/// Writes them.
package enum WireField {
  package static func number(_ number: UInt32) -> [UInt8] {
    [UInt8(number >> 24), UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
  }

  package static func string(_ bytes: some Collection<UInt8>) -> [UInt8] { number(UInt32(clamping: bytes.count)) + bytes }
}
