import CofferPropertyLists
import DefaultsCommand
import Testing

/// The expected output was printed by macOS, unless a test says otherwise.
@Suite struct DefaultsTextTests {
  static func dictionary(_ entries: (String, PropertyListValue)...) -> PropertyListValue {
    .dictionary(entries.reduce(into: PropertyListDictionary()) { $0[$1.0] = $1.1 })
  }

  @Test func scalars() {
    #expect(ValueDescription.text(.string("名前\n\\\"")) == "名前\n\\\"")
    #expect(ValueDescription.text(.boolean(true)) == "1")
    #expect(ValueDescription.text(.boolean(false)) == "0")
    #expect(ValueDescription.text(.integer(-28800)) == "-28800")
    #expect(ValueDescription.text(.unsigned(.max)) == "18446744073709551615")
    #expect(ValueDescription.text(.date(455_467_120)) == "2015-06-08 14:38:40 +0000")
  }

  static let numbers: [(Double, String)] = [
    (0.0, "0"), (-0.0, "-0"), (1, "1"), (-1.5, "-1.5"), (0.1, "0.1"), (39901.883138, "39901.883138"), (0.0001, "0.0001"),
    (0.00001, "1e-05"), (1.25e-7, "1.25e-07"), (1e15, "1000000000000000"), (123_456_789_012_345_680, "1.2345678901234568e+17"),
    (1e16, "1e+16"), (1e100, "1e+100"), (.leastNonzeroMagnitude, "5e-324"),
    (0.1 + 0.2, "0.30000000000000004"), (.infinity, "inf"),
    (-.infinity, "-inf"), (.nan, "nan"), (100, "100"), (0.689_999_997_615_814_2, "0.6899999976158142"),
  ]

  @Test(arguments: numbers)
  func reals(_ number: Double, _ text: String) {
    // macOS cuts off after sixteen digits, so that the two with seventeen would come back as other numbers.
    #expect(ValueDescription.text(.real(number)) == text)
    if number.isFinite { #expect(Double(ValueDescription.text(.real(number)))?.bitPattern == number.bitPattern) }
  }

  @Test func data() {
    #expect(ValueDescription.text(.data([])) == "{length = 0, bytes = 0x}")
    #expect(ValueDescription.text(.data([1, 2, 3, 4])) == "{length = 4, bytes = 0x01020304}")
    #expect(
      ValueDescription.text(.data(Array(0..<24)))
        == "{length = 24, bytes = 0x000102030405060708090a0b0c0d0e0f1011121314151617}")
    #expect(
      ValueDescription.text(.data(Array(0..<40)))
        == "{length = 40, bytes = 0x00010203 04050607 08090a0b 0c0d0e0f ... 20212223 24252627 }")
  }

  @Test func dictionaries() {
    let value = Self.dictionary(
      ("AppleLanguages", .array([.string("en-US"), .string("en")])), ("AppleLocale", .string("en_US")),
      ("com.apple.mouse.scaling", .real(1.5)),
      ("KB_SpellingLanguage", Self.dictionary(("KB_SpellingLanguage", .array([.string("en")])))),
      ("KB_DoubleQuoteOption", .string("\u{201C}abc\u{201D}")), ("AppleICUForce24HourTime", .boolean(true)),
      ("AKLastCheckInAttemptDate", .date(592_594_120)), ("musr", .data([])), ("offset", .integer(-28800)), ("empty", .string("")),
      ("_marker", .integer(1)))
    #expect(
      ValueDescription.text(value) == #"""
        {
            AKLastCheckInAttemptDate = "2019-10-12 17:28:40 +0000";
            AppleICUForce24HourTime = 1;
            AppleLanguages =     (
                "en-US",
                en
            );
            AppleLocale = "en_US";
            "KB_DoubleQuoteOption" = "\\U201cabc\\U201d";
            "KB_SpellingLanguage" =     {
                "KB_SpellingLanguage" =         (
                    en
                );
            };
            "_marker" = 1;
            "com.apple.mouse.scaling" = "1.5";
            empty = "";
            musr = {length = 0, bytes = 0x};
            offset = "-28800";
        }
        """#)
  }

  @Test func collectionsInArrays() {
    let value = Self.dictionary(("Items", .array([Self.dictionary(("on", .integer(1))), .array([])])))
    #expect(
      ValueDescription.text(value) == """
        {
            Items =     (
                        {
                    on = 1;
                },
                        (
                )
            );
        }
        """)
    #expect(ValueDescription.text(.array([Self.dictionary(("on", .integer(1)))])) == "(\n        {\n        on = 1;\n    }\n)")
    #expect(ValueDescription.text(Self.dictionary()) == "{\n}")
    #expect(ValueDescription.text(.array([])) == "(\n)")
    #expect(ValueDescription.text(Self.dictionary(("a", Self.dictionary()))) == "{\n    a =     {\n    };\n}")
    // There is no form for it on macOS that could be read again.
    #expect(ValueDescription.text(.uid(7)) == "{\n    \"CF$UID\" = 7;\n}")
  }

  @Test func escapes() {
    let text = "\u{1B}[2J\u{7}\t\n\r\u{B}\u{C}\u{8}\"\\\u{7F}é🙂"
    #expect(
      ValueDescription.text(.array([.string(text)]))
        == #"""
        (
            "\\033[2J\\a\\t\\n\\r\\v\\f\\b\\"\\\\\\177\\U00e9\\Ud83d\\Ude42"
        )
        """#)
  }

  @Test func typeNames() {
    let values: [(PropertyListValue, String)] = [
      (.string(""), "string"), (.data([]), "data"), (.integer(1), "integer"), (.unsigned(.max), "integer"), (.real(1), "float"),
      (.boolean(true), "boolean"), (.date(0), "date"), (.array([]), "array"), (Self.dictionary(), "dictionary"),
      (.uid(1), "dictionary"),
    ]
    for (value, name) in values { #expect(value.typeName == name) }
  }

  @Test(arguments: [
    ("2001-01-01 00:00:00 +0000", 0.0), ("2001-01-01T00:00:00Z", 0), ("2001-01-01T01:30:00+0130", 0),
    ("2000-12-31 23:59:59.75", -0.25),
    ("2001-01-01", 0), ("2001-01-01 00:01", 60), ("2015-06-08 16:38:40 +02:00", 455_467_120),
    ("1969-12-31T23:59:59Z", -978_307_201),
    ("2024-02-29", 730_857_600), ("2001-01-01T00:00:00.1Z", 0.1), ("2023-11-14T22:13:20.75Z", 721_692_800.75),
  ])
  func datesAreRead(_ text: String, _ date: Double) {
    #expect(DateText.parse(text) == date)
  }

  @Test(arguments: [
    "", "2001", "2001-1-1", "2001-13-01", "2001-02-29", "2001-01-01 ", "2001-01-01 24:00", "2001-01-01 00:60",
    "2001-01-01T00:00:60Z",
    "2001-01-01T00:00:00.Z", "2001-01-01 00:00:00 +01", "2001-01-01 00:00:00 CET", "2001-01-01T00:00:00Zx", "01/02/2003", "now",
  ])
  func datesAreRefused(_ text: String) {
    #expect(DateText.parse(text) == nil)
  }

  @Test(arguments: [0.0, -0.25, 0.1, -0.1, 721_692_800.75, 1e-5, -978_307_200.5, 123_456_789.123_456_7, -5e9 - 0.5, 6.3e10])
  func datesComeBack(_ date: Double) throws {
    let text = try #require(DateText.iso(date))
    #expect(DateText.parse(text)?.bitPattern == date.bitPattern, "\(text)")
  }

  @Test func datesOutsideOfTheCalendar() {
    #expect(DateText.iso(.nan) == nil)
    #expect(DateText.iso(1e300) == nil)
    #expect(DateText.description(-0.25) == "2000-12-31 23:59:59 +0000")
    #expect(DateText.description(1e300) == "1e+300 s since 2001-01-01 00:00:00 +0000")
    #expect(DateText.description(-63_145_526_401) == "-0001-12-31 23:59:59 +0000")
  }
}
