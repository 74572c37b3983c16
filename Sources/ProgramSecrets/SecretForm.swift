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
    case percent(PercentForm)
    case json(JSONWriter)
    /// Within single quotes, as a shell prints it for `set -x`.
    case shell
    /// Within `$'…'`, as bash prints it if it has line ends or other control characters.
    case ansi
    case entities(EntityForm)
  }

  /// The ways in which programs write JSON; the last two have escapes for all characters that are no ASCII.
  enum JSONWriter: CaseIterable {
    case plain
    /// `\/` for a slash.
    case slashes
    /// Escapes for `<`, `>` and `&`.
    case html
    case ascii
    case asciiAndSlashes

    fileprivate var isASCII: Bool { self == .ascii || self == .asciiAndSlashes }

    fileprivate func form(of byte: UInt8) -> StaticBytes? {
      switch (self, byte) {
      case (.slashes, UInt8(ascii: "/")), (.asciiAndSlashes, UInt8(ascii: "/")): #"\/"#
      case (.html, UInt8(ascii: "<")), (.html, UInt8(ascii: ">")), (.html, UInt8(ascii: "&")): JSONForm.escape(byte)
      default: JSONForm.form(of: byte)
      }
    }
  }

  static let writings: [Writing] =
    [.plain, .terminal, .shell, .ansi, .hex(isUpper: false), .hex(isUpper: true)] + PercentForm.all.map { .percent($0) }
    + JSONWriter.allCases.map { .json($0) } + EntityForm.allCases.map { .entities($0) }
    + [0, 4, 2].flatMap { [.base64(skipped: $0, isForURL: false), .base64(skipped: $0, isForURL: true)] }

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
    case .plain, .terminal, .percent, .json, .shell, .ansi, .entities: false
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
    case .percent(let form): return next(&place) { form.form(of: $0) }
    case .shell: return next(&place) { SecretFilter.shellForm(of: $0) }
    case .ansi: return next(&place) { SecretFilter.ansiForm(of: $0) }
    case .entities(let form): return next(&place) { form.form(of: $0) }
    case .json(let writer):
      if writer.isASCII, let scalar = scalar(at: place.index) { return nextOfEscape(&place, scalar) }
      return next(&place) { writer.form(of: $0) }
    }
  }

  private func sextet(at bit: Int) -> UInt8 {
    let first = unsafe UInt16(bytes[bit / 8])
    let second = unsafe bit / 8 + 1 < count ? UInt16(bytes[bit / 8 + 1]) : 0
    return UInt8(truncatingIfNeeded: (first << 8 | second) >> (10 - UInt16(bit % 8))) & 0x3F
  }

  /// The character that begins at a byte and is no ASCII. Returns nil also for bytes that are no UTF-8.
  private func scalar(at index: Int) -> Unicode.Scalar? {
    guard index < count else { return nil }
    let lead = unsafe bytes[index]
    guard (0xC2..<0xF8).contains(lead) else { return nil }
    let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    guard index + length <= count else { return nil }
    var value = UInt32(lead) & (0x7F >> UInt32(length))
    for offset in 1..<length {
      let byte = unsafe bytes[index + offset]
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    return Unicode.Scalar(value).flatMap { UTF8.width($0) == length ? $0 : nil }
  }

  /// `\uXXXX` for each unit of UTF-16.
  private func nextOfEscape(_ place: inout Place, _ scalar: Unicode.Scalar) -> UInt8 {
    let value = scalar.value
    let isPair = value > 0xFFFF
    let unit = !isPair ? value : place.part < 6 ? 0xD7C0 + value >> 10 : 0xDC00 + value & 0x3FF
    let letter = place.part % 6
    place.part += 1
    if place.part == (isPair ? 12 : 6) { place = Place(index: place.index + UTF8.width(scalar)) }
    guard letter > 1 else { return UInt8(ascii: letter == 0 ? "\\" : "u") }
    let digit = UInt8(truncatingIfNeeded: unit >> (4 * (5 - UInt32(letter)))) & 15
    return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
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
