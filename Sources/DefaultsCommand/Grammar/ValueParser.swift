internal import CofferPropertyLists

/// Reads what stands behind the key of `write`: `TEXT`, `-TYPE TEXT`, `-array VALUE …`, `-dict KEY VALUE …`.
enum ValueParser {
  static func edit(_ queue: inout ArgumentQueue) throws(DefaultsFailure) -> DefaultsInvocation.Edit {
    switch queue.next {
    case "-array":
      _ = queue.take()
      return .set(.array(try elements(&queue)))
    case "-array-add":
      _ = queue.take()
      return .append(try elements(&queue))
    case "-dict":
      _ = queue.take()
      return .set(.dictionary(try entries(&queue)))
    case "-dict-add":
      _ = queue.take()
      return .merge(try entries(&queue))
    default: return .set(try value(&queue))
    }
  }

  private static func elements(_ queue: inout ArgumentQueue) throws(DefaultsFailure) -> [PropertyListValue] {
    var elements: [PropertyListValue] = []
    while !queue.isEmpty { elements.append(try value(&queue)) }
    return elements
  }

  private static func entries(_ queue: inout ArgumentQueue) throws(DefaultsFailure) -> PropertyListDictionary {
    var entries = PropertyListDictionary()
    while !queue.isEmpty {
      guard case .string(let key) = try value(&queue) else { throw .said("Dictionary keys must be strings") }
      guard !queue.isEmpty else { throw .said("Key \(key) lacks a corresponding value") }
      entries[key] = try value(&queue)
    }
    return entries
  }

  private static func value(_ queue: inout ArgumentQueue) throws(DefaultsFailure) -> PropertyListValue {
    let word = try queue.take(orSay: "write: a value is missing")
    switch word {
    case _ where isType(word):
      return try typed(word, try queue.take(orSay: "write: \(word): a value is missing"))
    case "-array", "-array-add", "-dict", "-dict-add":
      throw .said("Cannot nest composite types (arrays and dictionaries); exiting")
    default:
      // macOS would store a mistyped type as a text.
      if word.utf8.first == UInt8(ascii: "-"), word.dropFirst().first?.isLetter == true {
        throw .usage("write: \(word) is not a type", hint: "a text that starts with a dash goes behind -string; defaults help")
      }
      return try propertyList(word)
    }
  }

  /// Whether the word is the type of a single value.
  static func isType(_ word: String) -> Bool {
    ["-string", "-data", "-int", "-integer", "-float", "-bool", "-boolean", "-date"].contains(word)
  }

  /// - Parameter type: See `isType`.
  static func typed(_ type: String, _ text: String) throws(DefaultsFailure) -> PropertyListValue {
    func value(_ value: PropertyListValue?, _ form: String) throws(DefaultsFailure) -> PropertyListValue {
      // The text may be a secret: it is not repeated.
      guard let value else { throw .usage("write: \(type) takes \(form)") }
      return value
    }
    switch type {
    case "-string": return .string(text)
    case "-data": return try value(data(text), "an even number of hexadecimal digits")
    case "-int", "-integer": return try value(integer(text), "a whole number of at most 64 bits")
    case "-float": return try value(real(text), "a number")
    case "-date": return try value(DateText.parse(text).map { .date($0) }, "a date such as 2026-11-21 10:06:14 +0000")
    default: return try value(boolean(text), "true, false, yes or no")
    }
  }

  private static func data(_ text: String) -> PropertyListValue? {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
    return .data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }

  private static func integer(_ text: String) -> PropertyListValue? {
    Int64(text).map { .integer($0) } ?? UInt64(text).map { .unsigned($0) }
  }

  /// With all the digits that a double has; macOS keeps those of a float.
  private static func real(_ text: String) -> PropertyListValue? {
    // A number that is too large for a double is an error, not infinity.
    guard let number = Double(text), number.isFinite || text.lowercased().contains("inf") || number.isNaN else { return nil }
    return .real(number)
  }

  private static func boolean(_ text: String) -> PropertyListValue? {
    switch text.lowercased() {
    case "yes", "true": .boolean(true)
    case "no", "false": .boolean(false)
    default: nil
    }
  }

  /// A text by itself is a text, unless it has one of the characters that property lists are made of. macOS also looks for
  /// escapes in such a text and so changes `C:\new`; here it is kept.
  /// - Throws: what macOS says, where it has one and is not a property list.
  static func propertyList(_ text: String) throws(DefaultsFailure) -> PropertyListValue {
    guard text.utf8.contains(where: { #""()[]{}<>"#.utf8.contains($0) }) else { return .string(text) }
    // `<dict>…</dict>` without the `<plist>` around it is found in many a script.
    for document in [text, "<plist>\(text)</plist>"] {
      if let read = try? PropertyList.read(Array(document.utf8)) { return read.value }
    }
    // Without the text, which macOS repeats: it may be a secret.
    throw .said("Could not parse the value.  Try single-quoting it.")
  }
}
