internal import CofferPropertyLists

/// Texts of dates. A date is a number of seconds since 2001-01-01 00:00:00 UTC, with parts of a second.
package enum DateText {
  /// As an NSDate describes itself: `2026-11-21 10:06:14 +0000`. Parts of a second are dropped.
  package static func description(_ date: Double) -> String {
    guard let parts = Parts(date) else { return "\(date.generalText) s since 2001-01-01 00:00:00 +0000" }
    return "\(parts.day) \(parts.time) +0000"
  }

  /// RFC 3339, with enough digits to restore the same date: `2026-11-21T10:06:14.75Z`. Returns nil if the date is beyond all
  /// calendars.
  package static func iso(_ date: Double) -> String? {
    guard let parts = Parts(date) else { return nil }
    return "\(parts.day)T\(parts.time)\(parts.fraction.isEmpty ? "" : "." + DecimalDigits.text(parts.fraction))Z"
  }

  private struct Parts {
    let day: String
    let time: String
    let fraction: [UInt8]

    init?(_ date: Double) {
      // Some thirty million years to either side.
      guard date.isFinite, date.magnitude < 1e15 else { return nil }
      let whole = Int(date.rounded(.down))
      let digits = DecimalDigits(date).fraction
      fraction = date < 0 ? DateText.complement(digits) : digits
      let seconds = whole + Int(PropertyListDate.referenceOffset)
      let days = Int((Double(seconds) / 86_400).rounded(.down))
      let rest = seconds - days * 86_400
      let (year, month, dayOfMonth) = PropertyListDate.civil(days)
      day = "\(year < 0 ? "-" : "")\(padded(Int(year.magnitude), 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
      time = "\(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
    }
  }

  /// 1 - 0.DIGITS.
  static func complement(_ digits: [UInt8]) -> [UInt8] {
    guard let last = digits.lastIndex(where: { $0 != 0 }) else { return [] }
    return digits[..<last].map { 9 - $0 } + [10 - digits[last]]
  }
}

/// With zeros in front.
func padded(_ number: Int, _ width: Int) -> String {
  let text = String(number)
  return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
}
