import CofferConsole

/// Messages of a program that stays: each once, until another one is to be told.
struct ToldMessage {
  private var last = ""

  /// - Parameter text: Lines; empty if there is nothing to tell any more.
  mutating func tell(_ text: String) {
    // Names of temporary files and of objects are digits, others each time.
    let kind = text.filter { !$0.isHexDigit }
    if !text.isEmpty, kind != last { Descriptor.error.note(text) }
    last = kind
  }
}
