import Foundation

/// A document of the project, as text.
struct Document: CustomStringConvertible, Sendable {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let texts =
    ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(Document.init) + all(in: "docs", ".md")
    + all(in: "docs/decisions", ".md") + guides
  /// The articles of the catalogues.
  static let guides = ["Vault", "Sources"].flatMap { folder in
    (FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.compactMap { $0 as? String } ?? [])
      .filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.sorted().map { Document("\(folder)/\($0)") }
  }
  /// Other names of pages are none of their own.
  static let manual = (all(in: "docs/man", ".1") + all(in: "docs/man", ".5")).filter { $0.otherPage == nil }

  /// Relative to the package.
  let path: String
  let lines: [String]

  var description: String { path }
  /// The page of which it is only another name, as a path below man(1)'s directories.
  var otherPage: String? { lines.first.flatMap { $0.hasPrefix(".so ") ? String($0.dropFirst(4)) : nil } }
  var isManual: Bool { !path.hasSuffix(".md") }
  var text: String { lines.joined(separator: "\n") }

  /// A file that is missing is an empty document, which no test accepts.
  init(_ path: String) {
    self.path = path
    let text = try? String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    lines = text?.components(separatedBy: "\n") ?? []
  }

  static func all(in folder: String, _ suffix: String) -> [Document] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
    return names.filter { $0.hasSuffix(suffix) }.sorted().map { Document("\(folder)/\($0)") }
  }

  static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appending(path: path).path)
  }

  /// The cells of the table whose heading begins with `first`, without the heading.
  func table(_ first: String) -> [[String]] {
    guard let start = lines.firstIndex(where: { $0.hasPrefix("| \(first) |") }) else { return [] }
    return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      line.dropFirst().dropLast().components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }
}

extension String {
  /// The texts that `pattern` and its groups match, for each match.
  func matches(_ pattern: String) -> [[String]] {
    guard let expression = try? NSRegularExpression(pattern: pattern, options: .anchorsMatchLines) else { return [] }
    let text = self as NSString
    return expression.matches(in: self, range: NSRange(location: 0, length: text.length)).map { match in
      (0..<match.numberOfRanges).map {
        match.range(at: $0).location == NSNotFound ? "" : text.substring(with: match.range(at: $0))
      }
    }
  }
}
