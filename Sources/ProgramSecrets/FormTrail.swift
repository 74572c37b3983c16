internal import SecretMemory

/// How far output goes on as a form does.
struct FormTrail {
  enum State {
    /// As far as the output is there.
    case open
    /// Another byte came.
    case broken
    case complete
  }

  /// Its index.
  let form: Int
  private var place = SecretForm.Place()
  private(set) var state = State.open
  /// The bytes of the form that were found.
  private(set) var count = 0
  /// The offset behind the last of them.
  private(set) var reached: Int

  /// - Parameter start: The offset at which the form may begin.
  init(_ form: Int, at start: Int) {
    self.form = form
    reached = start
  }

  /// Compares up to the end of the text, or until `limit` bytes of the form are found.
  mutating func follow(_ form: SecretForm, in text: UnsafePointer<UInt8>, to end: Int, limit: Int = .max) {
    while state == .open, count < limit {
      var next = place
      guard let wanted = form.next(&next) else {
        state = .complete
        return
      }
      var offset = reached
      if form.isWrapped, count > 0 {
        let last = min(end, reached + ConcealedSecrets.mostLineEnds)
        while offset < last, unsafe text[offset] == 0x0A || text[offset] == 0x0D { offset += 1 }
      }
      guard offset < end else { return }
      guard unsafe text[offset] == wanted else {
        state = .broken
        return
      }
      (place, reached, count) = (next, offset + 1, count + 1)
    }
  }

  /// No more output comes.
  mutating func end() {
    if state == .open { state = .broken }
  }

  /// The text before an offset was dropped.
  mutating func move(by offset: Int) { reached -= offset }
}
