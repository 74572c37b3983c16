/// The ASCII strings of a binary property list, as keyed archives have them.
///
/// Strings are found by their markers alone: parsing the whole list would take time and memory that its author controls, because
/// a list can reference one value many times. Checking bytes that only look like a string is cheap. Archives inside archives are
/// in the same bytes. Strings shorter than any token are skipped, as are those with non-ASCII characters, which are stored as
/// UTF-16.
struct ArchivedStrings {
  private var position = 0

  static func canRead(_ bytes: borrowing Span<UInt8>) -> Bool { bytes.holds("bplist", at: 0) }

  mutating func next(in bytes: borrowing Span<UInt8>) -> Range<Int>? {
    while position + 3 < bytes.count {
      defer { position += 1 }
      // 0101 1111: a string whose length follows, as an integer of one, two or four bytes.
      guard bytes[position] == 0x5F, (0x10...0x12).contains(bytes[position + 1]) else { continue }
      let width = 1 << Int(bytes[position + 1] & 0x0F)
      let start = position + 2 + width
      guard start <= bytes.count else { continue }
      var count = 0
      for index in position + 2..<start { count = count << 8 | Int(bytes[index]) }
      guard count >= TokenIndex.shortestToken, count <= bytes.count - start else { continue }
      let end = bytes.end(ofText: start, limit: start + count)
      guard end == start + count else { continue }
      position = end - 1
      return start..<end
    }
    return nil
  }
}

extension Span<UInt8> {
  /// The index of the first byte that is neither printable ASCII nor a space, at most `limit`.
  fileprivate func end(ofText start: Int, limit: Int) -> Int {
    var position = start
    while position < limit, self[position] < 0x7F, self[position] >= 0x20 || self[position].isSpace { position += 1 }
    return position
  }
}
