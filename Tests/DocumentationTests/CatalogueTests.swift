import Foundation
import Testing

@Suite struct CatalogueTests {
  /// The script also builds the catalogues of DocC, and fails if DocC reports a warning.
  @Test func publicDeclarationsAreDocumentedAndCataloguesBuild() throws {
    let modules = Home.programs.appending(path: "Modules").path
    let path = ProcessInfo.processInfo.environment["PATH"]
    let result = try Home().run("'\(Document.root.path)/Scripts/docs' '\(modules)'", path: path)
    #expect(result.status == 0, "\(result.output)")
  }
}
