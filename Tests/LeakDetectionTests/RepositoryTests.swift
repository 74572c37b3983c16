import CofferPropertyLists
import Foundation
import LeakDetection
import Testing

/// No file of the repository contains a token that secret scanners would report: those of the tests are assembled at run time.
@Suite struct RepositoryTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  /// Rules for structures, which documents may show without a token.
  static let structures: Set = [
    "private-key", "putty-private-key", "url-password", "authorization-header", "netrc", "otp-uri", "secret-member",
    "secret-json", "secret-line", "secret-element", "secret-code", "secret-argument", "oracle-password", "pgpass",
  ]

  @Test func noTokenIsWrittenOut() throws {
    let files = try #require(
      FileManager.default.enumerator(at: Self.root, includingPropertiesForKeys: [.isRegularFileKey], options: .skipsHiddenFiles))
    var count = 0
    for case let file as URL in files where try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
      // Files that are not text are corpora.
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
      count += 1
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        let rules = LeakDetector.findings(key: "line", value: .string(String(line))).map(\.rule)
        #expect(rules.allSatisfy(Self.structures.contains), "\(file.path):\(number + 1): \(rules)")
      }
    }
    #expect(count > 300)
    #expect(Self.structures.isSubset(of: Set(LeakRules.all.map(\.name))))
  }
}
