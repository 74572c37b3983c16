import CofferConsole
import Foundation
import Testing

/// Files, tests and links that the documents name exist.
@Suite struct ReferenceTests {
  /// `wrongPassphrase` as "wrong passphrase".
  static func words(_ status: CofferConsole.ExitStatus) -> String {
    "\(status)".reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : "\($1)" }
  }

  @Test func exitCodesOfTheManual() {
    let lines = Document("docs/man/coffer.1").lines
    let starts = lines.indices.filter { lines[$0].hasPrefix(".It Li ") }
    #expect(starts.map { lines[$0] } == CofferConsole.ExitStatus.allCases.map { ".It Li \($0.rawValue)" })
    for (index, status) in zip(starts, CofferConsole.ExitStatus.allCases) {
      #expect(lines[index + 1].lowercased().hasPrefix(Self.words(status)), "\(lines[index + 1])")
    }
  }

  @Test("the documents say what belongs into settings, and what into a database") func whereDataBelongs() {
    let document = Document("docs/where-data-belongs.md")
    for word in ["Core Data", "Realm", "MagicalRecord", "SQLite", "UserDefaults", "4 MiB"] {
      #expect(document.text.contains(word), "\(word)")
    }
    // Every directory that the app's container has.
    let places = document.table("what").flatMap { $0[1].matches("`([A-Z][^`]*|tmp)`").map { $0[1] } }
    for directory in ["Documents", "Documents/Inbox", "Library", "Library/Caches", "Library/Preferences", "tmp"] {
      #expect(places.contains(directory), "\(directory)")
    }
  }

  /// `Suite.test` of each test there is.
  static let tests: Set<String> = {
    var names: Set<String> = []
    let paths = ["Tests", "Fuzz/Tests"].flatMap { folder in
      let files = FileManager.default.enumerator(atPath: Document.root.appending(path: folder).path)
      return (files?.compactMap { $0 as? String } ?? []).map { folder + "/" + $0 }
    }
    for path in paths where path.hasSuffix("Tests.swift") {
      let text = Document(path).text
      let suites = text.matches(#"@Suite[^{]*?(?:struct|class) (\w+)"#).map { $0[1] }
      let bodies = text.components(separatedBy: "@Suite").dropFirst()
      for (suite, body) in zip(suites, bodies) {
        // Attributes may lie between @Test and its function, over several lines.
        for part in body.components(separatedBy: "@Test").dropFirst() {
          if let function = part.matches(#"\bfunc (\w+)"#).first?[1] { names.insert("\(suite).\(function)") }
        }
      }
    }
    return names
  }()

  @Test func claimsNameFilesAndTests() {
    let rows = Document("docs/claims.md").table("claim")
    #expect(rows.count > 25)
    #expect(Self.tests.count > 100)
    for row in rows {
      let file = row[1].trimmingCharacters(in: ["`"])
      #expect(Document.exists(file), "\(row[0]): \(file)")
      let tests = row[2].matches("`([^`]+)`").map { $0[1] }
      #expect(!tests.isEmpty, "\(row[0])")
      for test in tests {
        #expect(test.hasSuffix(".transcript") ? Document.exists(test) : Self.tests.contains(test), "\(row[0]): \(test)")
      }
    }
  }

  @Test(arguments: Document.texts) func testsThatAreNamedExist(document: Document) {
    for match in document.text.matches(#"`(\w+Tests\.\w+)`"#) where !match[1].hasSuffix(".swift") {
      #expect(Self.tests.contains(match[1]), "\(document): \(match[1])")
    }
  }

  @Test(arguments: Document.texts) func filesThatAreNamedExist(document: Document) {
    for match in document.text.matches(#"`((?:Vault|Sources|Tests|docs|Benchmarks)/[\w./+-]+)`"#) {
      #expect(Document.exists(match[1]), "\(document): \(match[1])")
    }
  }

  @Test(arguments: Document.texts + Document.manual) func nothingThatDoesNotBelongHere(document: Document) {
    #expect(!document.lines.isEmpty, "\(document) is missing")
    for word in ["shared/", "/work", "/tmp/wt", "/root/"] {
      for (index, line) in document.lines.enumerated() {
        #expect(!line.contains(word), "\(document):\(index + 1): \(word)")
      }
    }
  }

  @Test(arguments: Document.texts) func linksLeadSomewhere(document: Document) {
    let folder = document.path.split(separator: "/").dropLast().joined(separator: "/")
    for match in document.text.matches(#"\]\(([^)\s]+)\)"#) where !match[1].hasPrefix("http") {
      let parts = match[1].components(separatedBy: "#")
      let path = parts[0].isEmpty ? document.path : folder.isEmpty ? parts[0] : "\(folder)/\(parts[0])"
      #expect(Document.exists(path), "\(document): \(match[1])")
      guard parts.count == 2 else { continue }
      #expect(Self.anchors(Document(path)).contains(parts[1]), "\(document): \(match[1])")
    }
  }

  /// The names that GitHub and others give to headings.
  private static func anchors(_ document: Document) -> Set<String> {
    Set(
      document.text.matches(#"^#+ (.+)$"#).map { match in
        match[1].lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
      })
  }

  @Test func theLicenseIsApache() {
    let license = Document("LICENSE")
    #expect(license.lines.count > 200)
    #expect(license.text.contains("Apache License") && license.text.contains("Version 2.0, January 2004"))
  }

  /// Pictures are drawn by a script from a text beside them.
  @Test(arguments: [("demo", "terminal"), ("figures", "bars")]) func picturesAreDrawnByScripts(name: String, script: String)
    throws
  {
    let images = Document.root.appending(path: "docs/images").path
    let result = try Home().run(
      "'\(Document.root.path)/Scripts/draw-\(script)' '\(images)/\(name).txt' | cmp - '\(images)/\(name).svg'")
    #expect(result.status == 0, "\(result.output)")
  }

  @Test func thePictureOfTheDemoShowsItsSteps() {
    let steps = Document("Scripts/demo").text.matches(#"^say "(.*)""#).map { $0[1] }
    let shown = Document("docs/images/demo.txt").text.matches("^\u{1b}\\[1m(.*)\u{1b}\\[0m").map { $0[1] }
    #expect(!steps.isEmpty && steps == shown)
  }
}
