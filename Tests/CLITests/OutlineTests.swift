import Testing

@testable import CofferConsole

@Suite struct OutlineTests {
  private static func outline() -> Outline {
    var outline = Outline(columns: [.whole, .cut(to: 8), .begin(10)])
    outline.addHeading("default", depth: 0)
    outline.addHeading("github.com", depth: 1)
    outline.add("ada", depth: 2, ["", "a label of some length", "2026-11-25T10:00:00Z"])
    outline.add("日本", depth: 2, ["key", "", "2026-11-25T10:00:01Z"])
    outline.add("a\u{1B}[31m\nb", depth: 1, ["", "x", "2026-11-25T10:00:02Z"])
    return outline
  }

  private static func style(_ width: Int) -> OutputStyle { OutputStyle(isTerminal: true, isColoured: false, width: width) }

  @Test func columnsStandUnderEachOther() {
    #expect(
      Self.outline().text(style: Self.style(80)) == #"""
        default
          github.com
            ada                a label of some length  2026-11-25T10:00:00Z
            日本          key                          2026-11-25T10:00:01Z
          a\u{1b}[31m\nb       x                       2026-11-25T10:00:02Z

        """#)
  }

  /// No line is wider than the terminal, whatever its width; and the narrower it is, the less is shown.
  @Test(arguments: 1...90) func everyLineFits(width: Int) {
    let lines = Self.outline().text(style: Self.style(width)).split(separator: "\n").map(String.init)
    #expect(lines.count == 5)
    for line in lines { #expect(line.columns <= width, "\(line)") }
    #expect(lines[2].contains("2026-11-25") == (width >= 16 + 5 + 10 + 12), "\(lines[2])")
    if width >= 16 { #expect(lines[3].contains("日本") && lines[4].hasSuffix("b") || lines[4].contains("  ")) }
  }
}
