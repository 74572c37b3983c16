import Foundation

/// The source files of the package, as text.
struct SourceFile {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The path relative to the package.
  let path: String
  let lines: [String]

  /// The lines without comments.
  var code: [String] {
    lines.filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
  }

  var imports: Set<String> {
    Set(
      code.compactMap { line in
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "import"),
          words.dropFirst(index + 1).first?.first.map({ $0.isLetter || $0 == "_" }) == true,
          words[..<index].allSatisfy({
            $0.hasPrefix("@") || $0 == "public" || $0 == "package" || $0 == "internal" || $0 == "private"
          })
        else { return nil }
        let rest = words[(index + 1)...].filter {
          !["struct", "class", "enum", "protocol", "func", "typealias", "let", "var"].contains($0)
        }
        // Skips strings such as "import <domain>".
        guard let module = rest.first, module.first?.isLetter == true else { return nil }
        return String(module.split(separator: ".")[0])
      })
  }

  static func all(in folder: String, suffix: String = ".swift") -> [SourceFile] {
    let directory = root.appending(path: folder)
    let paths = FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []
    return paths.filter { $0.hasSuffix(suffix) && !$0.contains(".build") }.sorted().compactMap { path in
      guard let text = try? String(contentsOf: directory.appending(path: path), encoding: .utf8) else { return nil }
      return SourceFile(path: folder + "/" + path, lines: text.components(separatedBy: "\n"))
    }
  }
}
