import CofferPreferences
import CofferPropertyLists
import Testing

@Suite struct CoercionTests {
  @Test(
    arguments: [
      (PropertyListValue.string("x"), "x"), (.integer(-42), "-42"), (.unsigned(.max), "18446744073709551615"),
      (.boolean(true), "1"),
      (.boolean(false), "0"), (.real(42), "42"), (.real(12.34), "12.34"), (.real(Double(12.34 as Float)), "12.34"),
      (.real(0.1 + 0.2), "0.30000000000000004"), (.real(.nan), "nan"), (.real(-.infinity), "-inf"), (.real(1e300), "1e+300"),
      (.date(0), nil), (.data([1]), nil), (.array([]), nil), (.dictionary(PropertyListDictionary()), nil), (.uid(1), nil),
    ] as [(PropertyListValue, String?)])
  func string(value: PropertyListValue, expected: String?) { #expect(value.coercedToString == expected) }

  @Test(
    arguments: [
      (PropertyListValue.integer(.min), Int.min), (.unsigned(.max), .max), (.boolean(true), 1), (.real(12.99), 12),
      (.real(-12.99), -12),
      (.real(.nan), 0), (.real(.infinity), .max), (.real(-1e300), .min), (.string("1234"), 1234), (.string("  -7 "), -7),
      (.string("+5"), 5), (.string("12abc"), 12), (.string("12.9"), 12), (.string("abc"), 0), (.string(""), 0), (.string("-"), 0),
      (.string("YES"), 1), (.string("NO"), 0), (.string("99999999999999999999"), .max), (.string("-99999999999999999999"), .min),
      (.string("9223372036854775807"), .max), (.string("-9223372036854775808"), .min), (.date(5), 0), (.data([0x31]), 0),
      (.array([.integer(1)]), 0),
    ] as [(PropertyListValue, Int)])
  func integer(value: PropertyListValue, expected: Int) { #expect(value.coercedToInteger == expected) }

  @Test(
    arguments: [
      (PropertyListValue.integer(42), 42.0), (.unsigned(.max), 18_446_744_073_709_551_616), (.boolean(true), 1),
      (.real(0.5), 0.5),
      (.string("12.34"), 12.34), (.string(" -1.5e3x"), -1500), (.string(".5"), 0.5), (.string("5."), 5), (.string("5.e1"), 50),
      (.string("1e"), 1), (.string("1e+"), 1), (.string("."), 0), (.string("inf"), 0), (.string("nan"), 0), (.string("0x10"), 0),
      (.string("1,5"), 1), (.string("1e999"), .infinity), (.string("YES"), 0), (.date(1), 0),
    ] as [(PropertyListValue, Double)])
  func double(value: PropertyListValue, expected: Double) {
    #expect(value.coercedToDouble == expected)
    #expect(value.coercedToFloat == Float(expected))
  }

  @Test(
    arguments: [
      (PropertyListValue.boolean(true), true), (.integer(0), false), (.integer(-1), true), (.unsigned(.max), true),
      (.real(0), false),
      (.real(0.1), true), (.string("YES"), true), (.string("yes"), true), (.string("true"), true), (.string("T"), true),
      (.string("1"), true), (.string("+7"), true), (.string("-3"), true), (.string("007"), true), (.string("12abc"), true),
      (.string(" Y"), true), (.string("NO"), false), (.string("0"), false), (.string("00"), false), (.string("on"), false),
      (.string(""), false), (.data([1]), false), (.array([.boolean(true)]), false),
    ] as [(PropertyListValue, Bool)])
  func bool(value: PropertyListValue, expected: Bool) { #expect(value.coercedToBool == expected) }

  @Test func stringArray() {
    #expect(PropertyListValue.array([.string("a"), .string("b")]).coercedToStringArray == ["a", "b"])
    #expect(PropertyListValue.array([]).coercedToStringArray == [])
    #expect(PropertyListValue.array([.string("a"), .integer(1)]).coercedToStringArray == nil)
    #expect(PropertyListValue.string("a").coercedToStringArray == nil)
  }
}
