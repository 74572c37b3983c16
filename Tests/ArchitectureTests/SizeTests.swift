import Foundation
import Testing

@Suite struct SizeTests {
  /// The trusted core is read in an evening.
  @Test func coreStaysSmall() {
    let files = SourceFile.all(in: "Vault")
    let code = files.flatMap(\.code).filter { !$0.trimmingCharacters(in: .whitespaces).isEmpty }
    #expect(code.count <= 3700, "\(code.count) lines of code")
    #expect(files.count <= 66)
  }

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
