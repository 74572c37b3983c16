import Foundation
import Testing

/// The code cites the section of FORMAT.md that it implements, so that an auditor can compare the two.
@Suite struct FormatCitationTests {
  /// The sections that define bytes, or the order of steps.
  private static let layouts: Set = [
    "1.1", "1.2", "1.3", "3.1", "3.2", "3.3", "4.1", "4.2", "4.3", "5.1", "5.2", "5.3", "6", "7.1", "7.2", "8.1", "8.2", "8.3",
    "8.4", "8.5", "8.6", "8.7", "8.8", "9.1", "9.2", "9.3", "9.4", "10.1", "10.2", "10.3", "11",
  ]

  private static var citation: Regex<(Substring, sections: Substring)> {
    #/[Ss]ections? (?<sections>[0-9.]+[0-9](?: and [0-9.]+[0-9])*|[0-9]+) of FORMAT\.md/#
  }

  private static func citations() -> [(file: String, section: String)] {
    (SourceFile.all(in: "Vault") + SourceFile.all(in: "Sources")).flatMap { file in
      // A citation may continue on the next line of its comment.
      let text = file.lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ").replacing(" /// ", with: " ")
      return text.matches(of: citation).flatMap { match in
        match.output.sections.components(separatedBy: " and ").map { (file.path, $0) }
      }
    }
  }

  @Test func citedSectionsExist() throws {
    let format = try String(contentsOf: SourceFile.root.appending(path: "Vault/FORMAT.md"), encoding: .utf8)
    let headings = Set(format.matches(of: #/(?m)^##+ ([0-9]+(?:\.[0-9]+)?) /#).map { String($0.output.1) })
    #expect(Self.layouts.isSubset(of: headings), "\(Self.layouts.subtracting(headings))")
    for (file, section) in Self.citations() { #expect(headings.contains(section), "\(file) cites section \(section)") }
  }

  @Test func everyLayoutIsCited() {
    let cited = Set(Self.citations().map(\.section))
    #expect(Self.layouts.isSubset(of: cited), "no file cites \(Self.layouts.subtracting(cited).sorted())")
  }
}
