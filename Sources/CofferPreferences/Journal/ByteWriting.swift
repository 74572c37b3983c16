internal import Glibc

extension [UInt8] {
  /// Little-endian, as all numbers in the journal.
  mutating func append<Number: FixedWidthInteger>(number: Number) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
  }

  mutating func replace<Number: FixedWidthInteger>(at offset: Int, number: Number) {
    unsafe withUnsafeMutableBytes { unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self) }
  }
}

/// Reads numbers and strings that `[UInt8].append(number:)` and the like have written. Returns nil beyond the end, and from then
/// on.
@safe struct ByteReader {
  let bytes: UnsafeRawBufferPointer
  private(set) var offset: Int
  let end: Int

  /// - Parameter range: A range of the bytes to read.
  init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    unsafe self.bytes = unsafe bytes
    offset = range.lowerBound
    end = range.upperBound
  }

  var isAtEnd: Bool { offset == end }

  mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
    let count = MemoryLayout<Number>.size
    guard end - offset >= count else { return nil }
    defer { offset += count }
    return unsafe Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count >= 0, end - offset >= count else { return nil }
    defer { offset += count }
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, end - offset >= count else { return false }
    offset += count
    return true
  }

  /// Returns nil if the bytes are not UTF-8.
  mutating func text(_ count: Int) -> String? {
    guard let bytes = unsafe take(count) else { return nil }
    // `String(validating:)` takes three times as long for a string of a few bytes. If decoding repaired the bytes, they differ.
    var text = unsafe String(decoding: bytes, as: UTF8.self)
    let isSame = text.withUTF8 { repaired in
      unsafe repaired.count == count && (count == 0 || memcmp(repaired.baseAddress!, bytes.baseAddress!, count) == 0)
    }
    return isSame ? text : nil
  }
}
