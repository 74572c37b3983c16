internal import SecretMemory

/// Secrets that output is searched for, in the forms in which a program may print them.
///
/// What is found is a guard against accidents: a program that changes a secret in another way prints it.
@safe package final class ConcealedSecrets {
  /// Why output is not searched for a secret.
  package enum Refusal: Sendable, Equatable {
    /// It would be found in unrelated output.
    case tooShort(byteCount: Int)
    /// A word such as `localhost`, or one byte over and over.
    case ordinary
  }

  package static let leastCount = 6
  /// A line of a secret is a form of its own from here on.
  package static let leastLineCount = 8
  /// The lines of a secret that are forms. More would make a comparison with each of them slow.
  package static let mostLines = 1000
  /// If more of a form is found, it is concealed for as long as the output goes on as the form does. So no more than this is held back.
  package static let decisiveCount = 256
  /// The line ends that may stand between two bytes of encoded text.
  static let mostLineEnds = 4

  private static let ordinaryWords: Set<String> = [
    "127.0.0.1", "0.0.0.0", "changeme", "default", "development", "disabled", "enabled", "example", "localhost", "mariadb",
    "number", "object", "password", "postgres", "postgresql", "production", "secret", "staging", "string", "testing", "undefined",
    "unknown",
  ]

  /// The text in the place of each.
  private(set) var labels: [[UInt8]] = []
  private var forms: [SecretForm] = []
  /// Those that are found in one piece, and those that may be broken into lines.
  private(set) var whole: SortedForms
  private(set) var wrapped: SortedForms
  private var secrets: [HeldSecret] = []
  /// A bit for each pair of bytes with which a form begins, which would tell a little of the secrets.
  private var table: Secret
  private let pairs: UnsafePointer<UInt8>

  private static let pairBytes = 65536 / 8

  package var isEmpty: Bool { forms.isEmpty }

  /// - Throws: as `Secret(count:)`.
  package init() throws {
    (whole, wrapped) = (try SortedForms([]), try SortedForms([]))
    table = try Secret(count: Self.pairBytes)
    unsafe pairs = table.withPointer { unsafe $0 }
  }

  /// Adds a secret. One that is there already keeps its name.
  /// - Parameter name: Is printed.
  /// - Returns: why it is not searched for; nil if it is.
  package func add(_ held: HeldSecret, named name: String) -> Refusal? {
    guard held.secret.count >= Self.leastCount else { return .tooShort(byteCount: held.secret.count) }
    let whole = 0..<held.secret.count
    guard !Self.isOrdinary(held, whole) else { return .ordinary }
    guard !secrets.contains(where: { $0.secret.isEqual(to: held.secret) }) else { return nil }
    secrets.append(held)
    labels.append(Array("<concealed \(name)>".utf8))
    let trimmed = held.secret.trimmedRange()
    for range in trimmed == whole ? [whole] : [whole, trimmed] where !Self.isOrdinary(held, range) { addForms(held, range) }
    for line in Self.lines(of: held) where !Self.isOrdinary(held, line) { addForm(held, line, .plain) }
    return nil
  }

  private func addForms(_ held: HeldSecret, _ range: Range<Int>) {
    let first = forms.count
    for writing in SecretForm.writings {
      let form = SecretForm(held, range, as: writing, of: labels.count - 1)
      guard form.has(Self.leastCount), !forms[first...].contains(where: { $0.isEqual(to: form) }) else { continue }
      forms.append(form)
    }
  }

  private func addForm(_ held: HeldSecret, _ range: Range<Int>, _ writing: SecretForm.Writing) {
    forms.append(SecretForm(held, range, as: writing, of: labels.count - 1))
  }

  private static func lines(of held: HeldSecret) -> [Range<Int>] {
    held.secret.withBytes { bytes in
      var lines: [Range<Int>] = []
      var start = 0
      for offset in 0...bytes.byteCount
      where lines.count < mostLines && (offset == bytes.byteCount || bytes.byte(at: offset) == 0x0A) {
        var end = offset
        while end > start, bytes.byte(at: end - 1) == 0x0D { end -= 1 }
        // The secret as a whole is a form already.
        if end - start >= leastLineCount, end - start < bytes.byteCount { lines.append(start..<end) }
        start = offset + 1
      }
      return lines
    }
  }

  private static func isOrdinary(_ held: HeldSecret, _ range: Range<Int>) -> Bool {
    held.secret.withBytes { bytes in
      guard let start = range.first else { return true }
      let first = bytes.byte(at: start)
      return range.allSatisfy { bytes.byte(at: $0) == first }
        || ordinaryWords.contains { word in
          word.utf8.count == range.count && zip(word.utf8, range).allSatisfy { $0 == Self.lowerCase(bytes.byte(at: $1)) }
        }
    }
  }

  private static func lowerCase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  // MARK: The table

  /// After the last secret was added, and before the search.
  /// - Throws: as `Secret(count:)`.
  package func prepare() throws {
    whole = try SortedForms(forms.filter { !$0.isWrapped })
    wrapped = try SortedForms(forms.filter(\.isWrapped))
    unsafe table.withMutablePointer { table in
      for form in forms {
        var place = SecretForm.Place()
        let (first, second) = (form.next(&place) ?? 0, form.next(&place) ?? 0)
        for second in form.isWrapped ? [second, 0x0A, 0x0D] : [second] {
          let pair = Int(first) << 8 | Int(second)
          unsafe table[pair >> 3] |= 1 << UInt8(pair & 7)
        }
      }
    }
  }

  private func isFirst(_ byte: UInt8) -> Bool {
    [whole, wrapped].contains { !$0.goingOn($0.forms.indices, at: 0, with: byte).isEmpty }
  }

  /// The first offset from `start` on at which a form may begin: a pair of bytes that one begins with, or the last byte if one begins with
  /// that. Returns `end` if there is none.
  func firstCandidate(in text: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
    guard start < end else { return end }
    let pairs = unsafe pairs
    var pair = unsafe Int(text[start])
    var offset = start + 1
    while offset < end {
      pair = unsafe (pair << 8 | Int(text[offset])) & 0xFFFF
      if unsafe pairs[pair >> 3] & (1 << UInt8(pair & 7)) != 0 { return offset - 1 }
      offset += 1
    }
    return unsafe isFirst(text[end - 1]) ? end - 1 : end
  }
}
