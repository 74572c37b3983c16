internal import SecretMemory

/// One way to write a secret, or a part of it. The bytes are computed from the secret while they are compared, so that only the secret
/// itself lies in locked memory: the forms of 1 MiB would need 15 MiB of it.
@safe struct SecretForm {
  enum Writing: Equatable {
    case plain
    /// With a CR before each LF, as a terminal gets it.
    case terminal
    case hex(isUpper: Bool)
    /// Without the letters at its edges that depend on neighbouring bytes.
    /// - `skipped`: The bits of the secret before the first letter: 0, 4 or 2, for each place in a group of three bytes.
    case base64(skipped: Int, isForURL: Bool)
    case percent
    case json
  }

  /// The index of the secret among those that are concealed.
  let owner: Int
  let writing: Writing
  private let held: HeldSecret
  /// The part of the secret.
  let bytes: UnsafePointer<UInt8>
  let count: Int
  /// Whether it is longer than the decisive bytes.
  private(set) var isLong = false

  init(_ held: HeldSecret, _ range: Range<Int>, as writing: Writing, of owner: Int) {
    self.held = held
    // A secret does not move, and `held` keeps it.
    unsafe bytes = held.secret.withPointer { unsafe $0 + range.lowerBound }
    count = range.count
    self.writing = writing
    self.owner = owner
    let decisive = ConcealedSecrets.decisiveCount
    isLong = isPlain ? count > decisive : has(decisive + 1)
  }

  /// Whether its bytes are those of the secret.
  var isPlain: Bool { writing == .plain }

  /// The decisive bytes. Returns nil for a plain one, whose bytes are those of the secret.
  /// - Throws: as `Secret(count:)`.
  func computedBegin() throws -> HeldSecret? {
    guard !isPlain else { return nil }
    var place = Place()
    var count = 0
    while count < ConcealedSecrets.decisiveCount, next(&place) != nil { count += 1 }
    var begin = try Secret(count: count)
    place = Place()
    for offset in 0..<count { begin.write(next(&place) ?? 0, at: offset) }
    return HeldSecret(begin)
  }

  /// Whether it is still found if there are line ends within: encoded text is often broken into lines.
  var isWrapped: Bool {
    switch writing {
    case .hex, .base64: true
    case .plain, .terminal, .percent, .json: false
    }
  }

  /// A place in a form.
  struct Place {
    /// A byte of the secret; for `hex` and `base64`, a letter of the form.
    fileprivate var index = 0
    /// How many of the bytes that stand for it are behind this place.
    fileprivate var part = 0
  }

  /// The byte at a place, and the next place. Returns nil at the end.
  func next(_ place: inout Place) -> UInt8? {
    switch writing {
    case .plain:
      guard place.index < count else { return nil }
      defer { place.index += 1 }
      return unsafe bytes[place.index]
    case .hex(let isUpper):
      guard place.index < 2 * count else { return nil }
      defer { place.index += 1 }
      let byte = unsafe bytes[place.index / 2]
      let digit = place.index & 1 == 0 ? byte >> 4 : byte & 15
      return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: isUpper ? "A" : "a") + digit - 10
    case .base64(let skipped, let isForURL):
      let bit = skipped + 6 * place.index
      guard bit + 6 <= 8 * count else { return nil }
      defer { place.index += 1 }
      return Base64.letter(sextet(at: bit), isForURL: isForURL)
    case .terminal: return next(&place) { $0 == 0x0A ? "\r\n" : nil }
    case .percent: return next(&place) { PercentForm.form(of: $0) }
    case .json: return next(&place) { JSONForm.form(of: $0) }
    }
  }

  private func sextet(at bit: Int) -> UInt8 {
    let first = unsafe UInt16(bytes[bit / 8])
    let second = unsafe bit / 8 + 1 < count ? UInt16(bytes[bit / 8 + 1]) : 0
    return UInt8(truncatingIfNeeded: (first << 8 | second) >> (10 - UInt16(bit % 8))) & 0x3F
  }

  private func next(_ place: inout Place, _ form: (UInt8) -> StaticBytes?) -> UInt8? {
    guard place.index < count else { return nil }
    let byte = unsafe bytes[place.index]
    guard let replaced = form(byte) else {
      place.index += 1
      return byte
    }
    defer {
      place.part += 1
      if place.part == replaced.count { place = Place(index: place.index + 1) }
    }
    return replaced[place.part]
  }

  /// Whether it has at least this many bytes.
  func has(_ least: Int) -> Bool {
    var place = Place()
    return (0..<least).allSatisfy { _ in next(&place) != nil }
  }

  func isEqual(to other: SecretForm) -> Bool {
    var (place, otherPlace) = (Place(), Place())
    while true {
      let (byte, otherByte) = (next(&place), other.next(&otherPlace))
      guard byte == otherByte else { return false }
      if byte == nil { return true }
    }
  }
}
