import Foundation
import Testing

/// `Tests/bounded`, within which `make test` runs the tests.
@Suite struct BoundedRunTests {
  private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    let output = Pipe()
    process.executableURL = SourceFile.root.appending(path: "Tests/bounded")
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  @Test func anEndedRunReturnsItsStatus() throws {
    #expect(try run(["60", "/bin/sh", "-c", "echo said; exit 7"]) == (7, "said\n"))
  }

  @Test func aHangingProcessIsNamedAndEnded() throws {
    let (status, output) = try run(["0.01", "/bin/sh", "-c", "sleep 86399; true"])
    #expect(status == 124)
    #expect(output.hasPrefix("not ended after 0.01 minutes: /bin/sh -c sleep 86399; true\n"))
    #expect(output.split(separator: "\n").contains { $0.hasSuffix(": sleep 86399") })
  }
}
