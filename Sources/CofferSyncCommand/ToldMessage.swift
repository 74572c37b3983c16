import CofferConsole

/// Messages of a program that stays: each once, until there is nothing to tell.
struct ToldMessage {
  /// The number of messages that it remembers: two that take turns are not told again and again.
  private static let count = 4
  private var kinds: [String] = []

  /// - Parameter text: Lines; empty if there is nothing to tell any more.
  mutating func tell(_ text: String) { if isNew(text) { Descriptor.error.note(text) } }

  mutating func isNew(_ text: String) -> Bool {
    guard !text.isEmpty else {
      kinds = []
      return false
    }
    // Names of temporary files and of objects are digits, others each time.
    let kind = text.filter { !$0.isHexDigit }
    guard !kinds.contains(kind) else { return false }
    kinds = kinds.suffix(Self.count - 1) + [kind]
    return true
  }
}
