/// Compares strings by their bytes in UTF-8: Swift's `==` takes two Unicode normal forms of a string for equal.
public enum TextBytes {
  /// Two odd random numbers, different in each process, so that strings with equal digests cannot be constructed.
  private static let secret = (first: UInt64.random(in: 0 ... .max) | 1, second: UInt64.random(in: 0 ... .max) | 1)

  /// Whether both strings have the same UTF-8 bytes. (Swift's `==` compares by canonical equivalence.)
  public static func areEqual(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return unsafe left.utf8.withContiguousStorageIfAvailable { left in
      unsafe right.utf8.withContiguousStorageIfAvailable { right in
        unsafe areEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
      } ?? false
    } ?? left.utf8.elementsEqual(right.utf8)
  }

  private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while offset + 8 <= left.count {
      let (one, other) = unsafe (
        left.loadUnaligned(fromByteOffset: offset, as: UInt64.self), right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      )
      guard one == other else { return false }
      offset += 8
    }
    while offset < left.count {
      guard unsafe left[offset] == right[offset] else { return false }
      offset += 1
    }
    return true
  }

  /// Whether the bytes of `left` precede those of `right`.
  public static func precedes(_ left: String, _ right: String) -> Bool {
    unsafe left.utf8.withContiguousStorageIfAvailable { left in
      unsafe right.utf8.withContiguousStorageIfAvailable { right in
        unsafe precedes(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
      }
    }.flatMap { $0 } ?? left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private static func precedes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    let count = min(left.count, right.count)
    var offset = 0
    while offset + 8 <= count {
      let one = unsafe UInt64(bigEndian: left.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      let other = unsafe UInt64(bigEndian: right.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      guard one == other else { return one < other }
      offset += 8
    }
    while offset < count {
      guard unsafe left[offset] == right[offset] else { return unsafe left[offset] < right[offset] }
      offset += 1
    }
    return left.count < right.count
  }

  /// A hash, equal for equal strings within this process. One pass over the bytes, eight at a time.
  public static func digest(_ text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      var sum = UInt64(bytes.count) ^ secret.first
      var offset = 0
      while offset + 8 <= bytes.count {
        sum = mixed(unsafe sum ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        offset += 8
      }
      var rest: UInt64 = 0
      while offset < bytes.count {
        rest = unsafe rest << 8 | UInt64(bytes[offset])
        offset += 1
      }
      return mixed(sum ^ rest)
    }
  }

  /// Both halves of a product depend on all bits of the number.
  private static func mixed(_ number: UInt64) -> UInt64 {
    let product = number.multipliedFullWidth(by: secret.second)
    return product.high ^ product.low
  }
}
