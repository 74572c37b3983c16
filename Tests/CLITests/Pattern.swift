/// Lines with wildcards: `[..]` is any text within a line, a line `...` is any number of lines.
enum Pattern {
  /// `expected` ends every line with a line end, but for a last one that ends in `\`.
  static func matches(_ text: String, _ expected: [String]) -> Bool {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() } else { lines[lines.count - 1] += "\\" }
    return matches(lines[...], expected[...])
  }

  private static func matches(_ lines: ArraySlice<String>, _ expected: ArraySlice<String>) -> Bool {
    guard let first = expected.first else { return lines.isEmpty }
    let rest = expected.dropFirst()
    guard first != "..." else {
      return (lines.startIndex...lines.endIndex).contains { matches(lines[$0...], rest) }
    }
    guard let line = lines.first, matches(line: line, first) else { return false }
    return matches(lines.dropFirst(), rest)
  }

  static func matches(line: String, _ expected: String) -> Bool {
    let parts = parts(of: expected)
    guard parts.count > 1 else { return line == expected }
    guard line.hasPrefix(parts[0]) else { return false }
    var rest = line.dropFirst(parts[0].count)
    for part in parts.dropFirst().dropLast() {
      guard let after = rest.after(part) else { return false }
      rest = after
    }
    return rest.hasSuffix(parts[parts.count - 1])
  }

  private static func parts(of expected: String) -> [String] {
    var parts: [String] = []
    var rest = expected[...]
    while let after = rest.after("[..]") {
      parts.append(String(rest.prefix(rest.count - after.count - 4)))
      rest = after
    }
    return parts + [String(rest)]
  }
}

extension Substring {
  /// The part after the first occurrence of `text`.
  func after(_ text: String) -> Substring? {
    var rest = self
    while true {
      if rest.hasPrefix(text) { return rest.dropFirst(text.count) }
      guard !rest.isEmpty else { return nil }
      rest = rest.dropFirst()
    }
  }
}
