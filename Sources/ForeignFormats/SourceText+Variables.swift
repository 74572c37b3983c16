internal import ProgramSecrets

extension SourceText {
  /// Whether a name stands there, and is no part of a longer one.
  func hasVariable(_ name: String, at start: Int, in line: Range<Int>) -> Bool {
    func isPart(_ offset: Int) -> Bool { line.contains(offset) && VariableName.isPart(self[offset]) }
    let end = start + name.utf8.count
    return line.contains(start) && end <= line.upperBound && !isPart(start - 1) && !isPart(end)
      && zip(start..<end, name.utf8).allSatisfy { self[$0] == $1 }
  }

  /// The first line, from 0, with `$NAME` or `${NAME`, which a shell expands, and many programs that read files of variables.
  package func expansion(of name: String) -> Int? {
    lines().firstIndex { line in
      line.contains { start in
        guard self[start] == UInt8(ascii: "$") else { return false }
        return hasVariable(name, at: holds("{", at: start + 1) ? start + 2 : start + 1, in: line)
      }
    }
  }
}
