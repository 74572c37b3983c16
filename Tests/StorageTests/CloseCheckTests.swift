import Children
import Glibc
import Testing

/// The library that `Tests/CloseCheck/run` preloads is in this process, and in programs that it starts.
@Suite(.enabled(if: unsafe getenv("COFFER_CLOSE_REPORT") != nil, "takes Tests/CloseCheck/run, as `make test` has it"))
struct CloseCheckTests {
  @Test func aSecondCloseIsReported() throws {
    let fixture = try Fixture(withVault: false)
    let report = fixture.directory + "/report"
    Fixture.write([], to: report)
    #expect(run("env", "COFFER_CLOSE_REPORT=\(report)", probe, "close-twice", "") == ["ok -1"])
    let text = String(decoding: Fixture.read(report), as: UTF8.self)
    #expect(text.hasPrefix("\(probe): close("), "\(text)")
  }
}
