import ProgramSecrets
import Testing

@Suite struct EnvironmentFileTests {
  private static func values(_ text: String) throws -> [String] {
    try EnvironmentFile(Array(text.utf8)).assignments.map { assignment in
      "\(assignment.name)=" + String(decoding: assignment.value.plain ?? Array("<reference>".utf8), as: UTF8.self)
    }
  }

  @Test(arguments: [
    ("A=1", ["A=1"]), ("A=1\nB=2\n", ["A=1", "B=2"]), ("export A=1", ["A=1"]), ("export\tA=1", ["A=1"]),
    ("export=1", ["export=1"]),
    ("# comment\n\n  A=1", ["A=1"]), ("A=", ["A="]), ("A=\nB=2", ["A=", "B=2"]), ("A=#none", ["A="]), ("A=1#2", ["A=1#2"]),
    ("A=1 # two", ["A=1"]), ("A=one two  ", ["A=one two"]), ("A=1\r\nB=2\r\n", ["A=1", "B=2"]), ("A= 1", ["A=1"]),
    ("A='$HOME `x` \\n #'", [#"A=$HOME `x` \n #"#]), ("A='one\ntwo'", ["A=one\ntwo"]), ("A=\"one\ntwo\" # x", ["A=one\ntwo"]),
    (#"A="\n\t\"\\\$HOME""#, ["A=\n\t\"\\$HOME"]), (#"A=it's "so""#, [#"A=it's "so""#]), ("A=$B ${C} $(d)", ["A=$B ${C} $(d)"]),
    ("A=coffer://g/s/a#f", ["A=<reference>"]), ("A='x {{ coffer://g/s }}'", ["A=<reference>"]), ("A={{ x }}", ["A={{ x }}"]),
    ("", []), ("#", []), ("\n\n", []),
  ]) func isRead(text: String, expected: [String]) throws {
    #expect(try Self.values(text) == expected)
  }

  @Test(arguments: [
    ("A", TextError.Code.assignmentMissing, 1), ("A=1\nB C=2", .assignmentMissing, 2), ("export A", .assignmentMissing, 1),
    ("A=1\n2A=2", .nameNotAllowed, 2), ("=1", .nameNotAllowed, 1), ("A-B=1", .nameNotAllowed, 1),
    ("\u{FEFF}A=1\n\u{FEFF}B=1", .nameNotAllowed, 2),
    ("A=1\n\nB='x\ny", .quoteOpen, 3), (#"A="x\""#, .quoteOpen, 1), (#"A="\d""#, .escapeUnknown, 1),
    (#"A="x"y"#, .textAfterQuote, 1),
    ("A=1\nB='x' y", .textAfterQuote, 2), ("A=x\0", .zeroByte, 1), ("A=1\nB={{ coffer://g/s", .placeholderOpen, 2),
    ("B={{ coffer://g/s | upper }}", .filterUnknown, 1),
  ]) func isRefusedWithItsLine(text: String, code: TextError.Code, line: Int) {
    let bytes = Array(text.utf8)
    let error = #expect(throws: TextError.self) { try EnvironmentFile(bytes) }
    #expect(error?.code == code && error.map { TextPosition($0.offset, in: bytes).line } == line)
  }
}
