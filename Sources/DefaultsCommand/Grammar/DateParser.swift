internal import CofferPropertyLists

extension DateText {
  /// Reads `2026-11-21 10:06:14 +0000`, `2026-11-21T10:06:14.75Z`, and both with the time or the zone left out: midnight, UTC.
  /// An ambiguous text, such as `11/12/26` or `tomorrow`, is not a date.
  package static func parse(_ text: String) -> Double? {
    var scanner = DateScanner(bytes: Array(text.utf8)[...])
    guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
      let day = scanner.number(2), (1...12).contains(month), (1...PropertyListDate.days(month, year)).contains(day)
    else { return nil }
    var seconds = PropertyListDate.daysSince1970(year, month, day) * 86_400
    var fraction: [UInt8] = []
    if scanner.take("T") || scanner.take(" ") {
      guard let hour = scanner.number(2), scanner.take(":"), let minute = scanner.number(2), hour < 24, minute < 60 else {
        return nil
      }
      seconds += hour * 3600 + minute * 60
      if scanner.take(":") {
        guard let second = scanner.number(2), second < 60 else { return nil }
        seconds += second
        if scanner.take(".") {
          fraction = scanner.digits()
          guard !fraction.isEmpty else { return nil }
        }
      }
      guard let offset = scanner.zone() else { return nil }
      seconds -= offset
    }
    guard scanner.bytes.isEmpty else { return nil }
    return number(seconds - Int(PropertyListDate.referenceOffset), fraction)
  }

  /// The number that is nearest to the seconds and the digits behind their point.
  private static func number(_ seconds: Int, _ fraction: [UInt8]) -> Double? {
    guard seconds < 0, fraction.contains(where: { $0 != 0 }) else {
      return Double("\(seconds).\(DecimalDigits.text(fraction + [0]))")
    }
    return Double("-\(-seconds - 1).\(DecimalDigits.text(complement(fraction) + [0]))")
  }
}

private struct DateScanner {
  var bytes: ArraySlice<UInt8>

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard bytes.first == UInt8(ascii: character) else { return false }
    bytes.removeFirst()
    return true
  }

  /// Exactly so many digits.
  mutating func number(_ count: Int) -> Int? {
    guard bytes.count >= count else { return nil }
    var number = 0
    for byte in bytes.prefix(count) {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    bytes.removeFirst(count)
    return number
  }

  mutating func digits() -> [UInt8] {
    let digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    bytes.removeFirst(digits.count)
    return digits.map { $0 - UInt8(ascii: "0") }
  }

  /// Seconds east of Greenwich: of `Z`, `+0100`, `+01:00`, perhaps after a space, or 0 for nothing.
  mutating func zone() -> Int? {
    guard !bytes.isEmpty else { return 0 }
    _ = take(" ")
    if take("Z") { return 0 }
    let isEast = take("+")
    guard isEast || take("-"), let hours = number(2), hours < 24 else { return nil }
    _ = take(":")
    guard let minutes = number(2), minutes < 60 else { return nil }
    return (isEast ? 1 : -1) * (hours * 3600 + minutes * 60)
  }
}
