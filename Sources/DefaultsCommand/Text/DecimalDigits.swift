/// The shortest digits that give a finite number back: 0.DIGITS × 10^exponent.
struct DecimalDigits {
  let isNegative: Bool
  /// From 0 to 9, without zeros at either end; empty for zero.
  let digits: [UInt8]
  let exponent: Int

  init(_ number: Double) {
    isNegative = number.sign == .minus
    // As Swift writes numbers: `12.5`, `1e+20`, `5e-324`.
    let parts = number.magnitude.description.split(separator: "e")
    let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    let whole = mantissa[0].utf8.map { $0 - UInt8(ascii: "0") }
    let fraction = mantissa.count > 1 ? mantissa[1].utf8.map { $0 - UInt8(ascii: "0") } : []
    let all = whole + fraction
    let leading = all.prefix { $0 == 0 }.count
    let trailing = all.reversed().prefix { $0 == 0 }.count
    guard leading < all.count else {
      (digits, exponent) = ([], 0)
      return
    }
    digits = Array(all[leading..<all.count - trailing])
    exponent = whole.count - leading + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
  }

  /// The digits behind the point.
  var fraction: [UInt8] {
    exponent >= digits.count ? [] : [UInt8](repeating: 0, count: max(0, -exponent)) + digits.dropFirst(max(0, exponent))
  }

  static func text(_ digits: some Sequence<UInt8>) -> String {
    String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
  }
}

extension Double {
  /// As printf's `%.16g` writes it, which is what an NSNumber says of itself; with a 17th digit where the number needs it to come back
  /// as the same.
  var generalText: String {
    guard isFinite else { return isNaN ? "nan" : self < 0 ? "-inf" : "inf" }
    let decimal = DecimalDigits(self)
    let sign = decimal.isNegative ? "-" : ""
    guard !decimal.digits.isEmpty else { return sign + "0" }
    let digits = decimal.digits
    let power = decimal.exponent - 1
    guard power < -4 || power >= max(16, digits.count) else {
      let whole = (0..<max(0, decimal.exponent)).map { $0 < digits.count ? digits[$0] : 0 }
      let fraction = decimal.fraction
      return sign + (whole.isEmpty ? "0" : DecimalDigits.text(whole))
        + (fraction.isEmpty ? "" : "." + DecimalDigits.text(fraction))
    }
    let mantissa = DecimalDigits.text(digits.prefix(1)) + (digits.count > 1 ? "." + DecimalDigits.text(digits.dropFirst()) : "")
    return "\(sign)\(mantissa)e\(power < 0 ? "-" : "+")\(power.magnitude < 10 ? "0" : "")\(power.magnitude)"
  }
}
