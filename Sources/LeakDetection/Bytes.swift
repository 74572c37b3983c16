extension StaticString {
  subscript(index: Int) -> UInt8 {
    precondition(index < utf8CodeUnitCount)
    return unsafe utf8Start[index]
  }
}

extension Span<UInt8> {
  func holds(_ literal: StaticString, at start: Int) -> Bool {
    let length = literal.utf8CodeUnitCount
    guard start >= 0, start <= count - length else { return false }
    for index in 0..<length where self[start + index] != literal[index] { return false }
    return true
  }

  /// As `holds`, but ignoring case; `literal` is in lower case.
  func holdsIgnoringCase(_ literal: StaticString, at start: Int) -> Bool {
    let length = literal.utf8CodeUnitCount
    guard start >= 0, start <= count - length else { return false }
    for index in 0..<length where self[start + index].lowercased != literal[index] { return false }
    return true
  }

  /// The end of the run of characters of `alphabet` that begins at `start`; one beyond `limit` if the run is longer.
  func end(of alphabet: Alphabet, from start: Int, limit: Int = .max) -> Int {
    let last = limit < count - start ? start + limit + 1 : count
    var position = start
    while position < last, alphabet.contains(self[position]) { position += 1 }
    return position
  }

  func lastPosition(of literal: StaticString) -> Int? {
    var position = count - literal.utf8CodeUnitCount
    while position >= 0 {
      if holds(literal, at: position) { return position }
      position -= 1
    }
    return nil
  }

  /// The index of the first `literal` at or after `start`, at most `limit` bytes after it.
  func position(of literal: StaticString, from start: Int = 0, limit: Int = .max) -> Int? {
    guard literal.utf8CodeUnitCount > 0, count >= literal.utf8CodeUnitCount else { return nil }
    let first = literal[0]
    var position = start
    while position <= count - literal.utf8CodeUnitCount, position - start <= limit {
      if self[position] == first, holds(literal, at: position) { return position }
      position += 1
    }
    return nil
  }
}

extension UInt8 {
  /// An ASCII letter in lower case; any other byte unchanged.
  var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
  var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
