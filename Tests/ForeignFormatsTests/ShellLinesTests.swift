import CofferTesting
import ForeignFormats
import SecretMemory
import Testing

/// Only a line that the shell surely reads as one assignment is one.
@Suite struct ShellLinesTests {
  /// The names of the assignments at the top level. nil if the file is not understood.
  private func names(_ text: String) throws -> [String]? {
    let text = try SourceText(Secret(testing: text))
    let lines = ShellLines(text)
    guard lines.isUnderstood else { return nil }
    return text.lines().indices.filter(lines.isAtTopLevel).compactMap { lines.assignment(on: $0)?.name }
  }

  @Test func plainAssignmentsAreFound() throws {
    #expect(
      try names(
        """
        A=x
          export B='x y"z' # a comment
        export\tC="it's"
        D=a-b.c:d/e@f%g,h+i
        _E1=x
        """) == ["A", "B", "C", "D", "_E1"])
  }

  @Test(arguments: [
    "A= x", "A =x", "A=", "A=''", "A='x'y", "A='x'#y", "A=\"x$y\"", "A=\"x`y`\"", "A=\"x\\y\"", "A=x\r", "A='x\r'", "A=x y",
    "A=x;",
    "A=x; B=y", "A=x B=y", "A=$x", "A=~", "A=x'y'", "export -n A=x", "export -- A=x", "export=x y", "exportA =x",
    "declare -x A=x",
    "A[1]=x", "A+=x", "1A=x", "# A=x", "A=x#y", "\u{FEFF}A=x",
  ])
  func othersAreNone(line: String) throws { #expect(try names("\(line)\n") == [], "\(line)") }

  /// Lines between `before` and `after` are not at the top level, and those behind them are.
  @Test(arguments: [
    ("cat <<END", "END"), ("cat <<-'END' | sort", "\tEND"), ("cat << \\END; cat <<X", "END\nX"), ("x='", "'"),
    ("x=\"a $(b \"c\") ", "\""),
    ("x=$'it\\'s", "'"), ("if a; then", "fi"), ("for x in a; do", "done"), ("while a\ndo", "done"), ("case $x in", "esac"),
    ("case $x in\n  a | b)", ";;\n(c) ;; esac"), ("f() {", "}"), ("f () (", ")"), ("x=$(", ")"), ("x=`", "`"), ("x=${y:-", "}"),
    ("x=(", ")"),
    ("if a; then case b in c) ", ";; esac; fi"), ("x=\"${y:-it's", "}\""), ("x=\"`echo \"a", "\"`\""), ("{ a;", "}"),
    ("echo \\", ""), ("echo $\"hello", "\""), ("cat <<END\nset it by \\\nEND", "END"), ("cat <<'E F' # '\nE", "E F"),
    ("cat <<\"E\"F\n\\\\", "EF"), ("cat <<'END'\n\\", "END"),
  ])
  func linesWithinOthersAreNotAtTheTopLevel(before: String, after: String) throws {
    #expect(try names("A=x\n\(before)\nB=x\n\(after)\nC=x\n") == ["A", "C"], "\(before)")
  }

  @Test(arguments: [
    "x=$(( 1 << 2 ))", "cat <<<'a'", "echo it\\'s", "# it's", "echo a # \"", "echo a#'b'", "x=$#'a'", "echo ${x#'a'} ${#x} $$",
    "echo \"a'b\" 'c\"d'",
    "echo fido ified {a,b}", "[[ $- == *i* ]] || echo", "x=\"it's $(echo ')') ${y%\\}}\"", "echo `a 'b'`",
    "case $- in *i*) ;; esac", "f() { echo; }",
    "if a; then b; fi", "x=\"`a`\" y=$'\\''", "x=${y:-\"}\"}",
  ])
  func completeLinesChangeNothing(line: String) throws { #expect(try names("\(line)\nA=x\n") == ["A"], "\(line)") }

  @Test(arguments: [
    "x='", "x=\"", "if a", "echo fi", "a )", "cat <<END", "x=$(", "f() {", "echo }", "cat << ", "x=${y", "`", "`(`", "\\",
    "cat <<$'E'\n$E\nE", "x=$( (cat <<END\n:) :)\nEND\n) )", "cat <<'E\nE", "cat <<`a`",
  ])
  func aFileThatDoesNotEndIsNotUnderstood(line: String) throws { #expect(try names("A=x\n\(line)") == nil, "\(line)") }

  @Test func namesThatAreExportedAndUsed() throws {
    let text = try SourceText(
      Secret(testing: "A=x\n# A\nexport B A\nexport -n C\nexport D=x\nB=y\necho $B_2 2B\nif a; then\nexport E\n# D\nfi\n"))
    let lines = ShellLines(text)
    #expect(lines.exportedNames() == ["A", "B"])
    #expect(lines.otherLine(with: "A", than: 0) == nil)
    #expect(lines.otherLine(with: "B", than: 0) == 5 && lines.otherLine(with: "B", than: 5) == nil)
    // A word that goes on on the next line may be any name.
    let cut = try SourceText(Secret(testing: "A=x\necho $A_PASS\\\nWORD a \\\n b\n"))
    #expect(ShellLines(cut).otherLine(with: "A", than: 0) == 1)
    #expect(lines.otherLine(with: "C", than: 0) == 3 && lines.otherLine(with: "D", than: 4) == 9)
  }
}
