import Foundation
import Testing

@Suite struct SizeTests {
  /// The trusted core is read in an evening, and each of its modules alone.
  @Test(arguments: [
    ("SecretMemory", 270), ("VaultCore", 3550), ("AccessRights", 410), ("VaultUpkeep", 1100), ("PublicKeyBoxes", 90),
  ])
  func coreStaysSmall(module: String, limit: Int) {
    let code = SourceFile.all(in: "Vault/\(module)").flatMap(\.code).filter { !$0.trimmingCharacters(in: .whitespaces).isEmpty }
    #expect(!code.isEmpty && code.count <= limit, "\(module): \(code.count) lines of code")
  }

  @Test func coreHasFewFiles() { #expect(SourceFile.all(in: "Vault").count <= 90) }

  @Test func filesHoldOneIdea() {
    for folder in ["Vault", "Sources"] {
      for file in SourceFile.all(in: folder) { #expect(file.lines.count <= 300, "\(file.path): \(file.lines.count) lines") }
    }
  }

  @Test func namesAreSpecific() {
    for folder in ["Vault", "Sources"] {
      for file in SourceFile.all(in: folder) {
        #expect(file.path.range(of: "Manager|Helper|Util", options: .regularExpression) == nil, "\(file.path)")
      }
    }
  }

  /// Run-time failures are errors, and invalid input never traps.
  @Test func nothingIsForced() {
    for folder in ["Vault", "Sources"] {
      // Apple's interface of the preference store has no other way to refuse a value.
      for file in SourceFile.all(in: folder) where !file.path.hasSuffix("/NonPropertyListTrap.swift") {
        for line in file.code {
          #expect(line.range(of: #"\btry!|\bas!|fatalError"#, options: .regularExpression) == nil, "\(file.path): \(line)")
        }
      }
    }
  }
}
