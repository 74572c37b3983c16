import Foundation
import Testing

/// `Tests/Mutation/run` takes out the checks of the core one by one. It takes hours, so each run of the tests only compares its list with
/// the code: each mutant names a text that its file has exactly once.
@Suite struct MutantTests {
  @Test func mutantsFitTheCode() throws {
    let process = Process()
    process.executableURL = SourceFile.root.appending(path: "Tests/Mutation/run")
    process.arguments = ["--check"]
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(String(decoding: text, as: UTF8.self))")
  }
}
