internal import SecretMemory

/// How far output goes on as a form does; as several, which begin alike.
struct FormTrail {
  enum State {
    /// As far as the output is there.
    case open
    /// Another byte came.
    case broken
    case complete
  }

  /// Whether they are those that may be broken into lines.
  let isWrapped: Bool
  /// Those that go on as the output does.
  private var forms: Range<Int>
  /// In the one form that is computed, behind the decisive bytes.
  private var place = SecretForm.Place()
  private(set) var state = State.open
  /// The bytes that were found.
  private(set) var count = 0
  /// The offset behind the last of them.
  private(set) var reached: Int
  /// The longest form that is complete.
  private(set) var longest: (owner: Int, count: Int, end: Int)?
  /// The first of the forms with the same decisive bytes, once those are found.
  private(set) var group: Int?

  /// - Parameters:
  ///   - all: The forms that may begin.
  ///   - isWrapped: Whether they are those that may be broken into lines.
  ///   - start: The offset at which they may begin.
  init(_ all: SortedForms, isWrapped: Bool, at start: Int) {
    forms = all.forms.indices
    self.isWrapped = isWrapped
    reached = start
    if forms.isEmpty { state = .broken }
  }

  /// Whether the decisive bytes were found of forms that are longer.
  var isLong: Bool { group != nil }

  /// Compares up to the end of the text, or until the decisive bytes of a form are found that is longer.
  mutating func begin(_ all: SortedForms, in text: UnsafePointer<UInt8>, to end: Int) {
    unsafe follow(all, in: text, to: end, limit: ConcealedSecrets.decisiveCount)
    if state == .open, count == ConcealedSecrets.decisiveCount { group = forms.lowerBound }
  }

  /// Compares up to the end of the text, or until `limit` bytes are found.
  mutating func follow(_ all: SortedForms, in text: UnsafePointer<UInt8>, to end: Int, limit: Int = .max) {
    while state == .open {
      if hasEnd(all) {
        longest = (all.forms[forms.lowerBound].owner, count, reached)
        forms.removeFirst()
        if forms.isEmpty { state = .complete }
        continue
      }
      guard count < limit else { return }
      var offset = reached
      if isWrapped, count > 0 {
        let last = min(end, reached + ConcealedSecrets.mostLineEnds)
        while offset < last, unsafe text[offset] == 0x0A || text[offset] == 0x0D { offset += 1 }
      }
      guard offset < end else { return }
      let next = unsafe goingOn(all, with: text[offset])
      guard !next.isEmpty else {
        state = .broken
        return
      }
      (forms, reached, count) = (next, offset + 1, count + 1)
    }
  }

  private func isComputed(_ all: SortedForms) -> Bool { isLong && !all.forms[forms.lowerBound].isPlain }

  private func hasEnd(_ all: SortedForms) -> Bool {
    guard isComputed(all) else { return all.hasEnd(forms.lowerBound, at: count) }
    var next = place
    return all.forms[forms.lowerBound].next(&next) == nil
  }

  private mutating func goingOn(_ all: SortedForms, with byte: UInt8) -> Range<Int> {
    guard isComputed(all) else { return all.goingOn(forms, at: count, with: byte) }
    return all.forms[forms.lowerBound].next(&place) == byte ? forms : forms.lowerBound..<forms.lowerBound
  }

  /// Behind the decisive bytes: one for the plain forms, and one for each that is computed.
  func split(_ all: SortedForms) -> [FormTrail] {
    let computed = forms.drop { all.forms[$0].isPlain }
    var plain = self
    plain.forms = forms.lowerBound..<computed.startIndex
    return (plain.forms.isEmpty ? [] : [plain])
      + computed.map { index in
        var trail = self
        trail.forms = index..<index + 1
        for _ in 0..<count { _ = all.forms[index].next(&trail.place) }
        return trail
      }
  }

  /// No more output comes.
  mutating func end() {
    if state == .open { state = .broken }
  }

  /// The text before an offset was dropped.
  mutating func move(by offset: Int) { reached -= offset }
}
