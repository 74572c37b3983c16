import Foundation
import Testing

/// A file is deleted at the worst moment: one program is stopped right after a system call on it, and continues when the file was
/// replaced.
@Suite struct ReplacedFileTests {
  let app: AppPrograms

  init() throws { app = try AppPrograms() }

  private var log: URL { app.root.appending(path: "log") }

  private func stopping(after call: String, _ file: URL) -> [String] {
    ["strace", "-f", "-qq", "-o", log.path, "-P", file.path, "-e", "trace=\(call)", "-e", "inject=\(call):signal=STOP:when=1"]
  }

  /// The stopped thread, from the output of strace.
  private func stopped() throws -> pid_t {
    let deadline = Date(timeIntervalSinceNow: 300)
    while Date() < deadline {
      let lines = ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n")
      if let line = lines.first(where: { $0.contains("--- stopped by SIGSTOP ---") }),
        let thread = line.split(separator: " ").first.flatMap({ pid_t($0) })
      {
        return thread
      }
      usleep(2_000)
    }
    throw AppPrograms.Silent(description: "nothing has stopped under strace")
  }

  @Test("a requesting program notices that the file was replaced before its request was written")
  func theRequestingProgramNoticesAReplacedFile() throws {
    let host = try app.start(["host"])
    try host.wait(for: "A\t1", "B\t1", "C\t1")
    let file = app.requests.appending(path: "A.kind")
    // The lock was tested, the byte is not written.
    let asking = try app.start(["request", "A"], under: stopping(after: "fcntl", file))
    let stopped = try stopped()
    try FileManager.default.removeItem(at: file)
    try host.wait(for: "A\t2")
    kill(stopped, SIGCONT)
    #expect(try asking.rest() == "acknowledged\n")
    try host.wait(for: "A\t3")
  }

  @Test("a host notices that the file was replaced while it was locked") func theHostNoticesAReplacedFile() throws {
    try FileManager.default.createDirectory(at: app.requests, withIntermediateDirectories: true)
    let file = app.requests.appending(path: "A.kind")
    try Data("..".utf8).write(to: file)
    let host = try app.start(["host"], under: stopping(after: "ftruncate", file))
    let stopped = try stopped()
    try FileManager.default.removeItem(at: file)
    kill(stopped, SIGCONT)
    try host.wait(for: "A\t1", "B\t1", "C\t1")
    try app.run("reload", "1", "A")
    try host.wait(for: "A\t2")
    try app.run("reload", "1", "C")
    try host.wait(for: "C\t2")
    _ = try host.rest()
    #expect(host.lines.sorted() == ["A\t1", "A\t2", "B\t1", "C\t1", "C\t2"])
  }
}
