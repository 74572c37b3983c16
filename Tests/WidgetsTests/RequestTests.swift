import Foundation
import Testing

/// Requests of other processes: the provider and the requesting program are separate processes.
@Suite struct RequestTests {
  let app: AppPrograms

  init() throws { app = try AppPrograms() }

  private func host() throws -> RunningProgram {
    let host = try app.start(["host"])
    try host.wait(for: "A\t1", "B\t1", "C\t1")
    return host
  }

  /// The lines of one kind in a host's output.
  private func counts(_ host: RunningProgram, _ kind: String) -> [String] {
    host.lines.filter { $0.hasPrefix("\(kind)\t") }.map { String($0.dropFirst(2)) }
  }

  private func numbers(_ range: ClosedRange<Int>) -> [String] { range.map { "\($0)" } }

  @Test("the provider of a kind is asked once for each request, and no other") func oncePerRequest() throws {
    let host = try host()
    for number in 2...6 {
      try app.run("reload", "1", "B")
      try host.wait(for: "B\t\(number)")
    }
    // Many concurrent requests, from several programs.
    let others = try (0..<4).map { _ in try app.start(["reload", "250", "B"]) }
    for other in others { _ = try other.rest() }
    try host.wait(for: "B\t1006")
    // Later requests were served: none is left over.
    try app.run("reload", "1", "C")
    try host.wait(for: "C\t2")
    _ = try host.rest()
    #expect(counts(host, "A") == ["1"])
    #expect(counts(host, "B") == numbers(1...1006))
    #expect(counts(host, "C") == ["1", "2"])
  }

  @Test func allKinds() throws {
    let host = try host()
    try app.run("reload-all", "3")
    try host.wait(for: "A\t4", "B\t4", "C\t4")
    try app.run("reload", "1", "A")
    try host.wait(for: "A\t5")
    _ = try host.rest()
    #expect(counts(host, "A") == numbers(1...5) && counts(host, "B") == numbers(1...4) && counts(host, "C") == numbers(1...4))
  }

  @Test("a request for a kind without a host is served by the first call of the next host")
  func requestsWithoutAHost() throws {
    // No program of the app has ever shown a widget.
    #expect(try app.run("reload", "3", "A").errors == "")
    #expect(!FileManager.default.fileExists(atPath: app.requests.path))
    do {
      let host = try host()
      _ = try host.rest()
      #expect(host.lines.sorted() == ["A\t1", "B\t1", "C\t1"])
    }
    // A program has shown widgets, and has ended.
    try app.run("reload", "3", "A")
    try app.run("reload-all", "2")
    let host = try host()
    try app.run("reload", "2", "A")
    try host.wait(for: "A\t3")
    _ = try host.rest()
    #expect(counts(host, "A") == numbers(1...3) && counts(host, "B") == ["1"] && counts(host, "C") == ["1"])
    // Without a host, requests are not stored either.
    try app.run("reload", "3", "A")
    let size = try FileManager.default.attributesOfItem(atPath: app.requests.appending(path: "A.kind").path)[.size] as? Int
    #expect(size == 2)
    // The next host does not count requests of the previous one again.
    let last = try self.host()
    try app.run("reload", "1", "B")
    try last.wait(for: "B\t2")
    _ = try last.rest()
    #expect(last.lines.sorted() == ["A\t1", "B\t1", "B\t2", "C\t1"])
  }

  @Test func anUnknownKindIsIgnored() throws {
    let host = try host()
    #expect(try app.run("reload", "1", "none").errors == "")
    #expect(try FileManager.default.contentsOfDirectory(atPath: app.requests.path).sorted() == ["A.kind", "B.kind", "C.kind"])
    try app.run("reload", "1", "A")
    try host.wait(for: "A\t2")
    _ = try host.rest()
    #expect(host.lines.count == 4)
  }

  @Test("a bundle of two bundles lists all kinds") func kindsOfNestedBundles() throws {
    #expect(try app.run("list").output == "\n")
    let host = try host()
    #expect(try app.run("list").output == "A B C\n")
    host.kill()
    #expect(try app.run("list").output == "\n")
  }

  @Test func twoWidgetsOfOneKind() throws {
    let twice = try app.run("host-twice")
    #expect(twice.status == 1 && twice.output == "" && twice.errors.contains("duplicateKind: two widgets are of the kind B"))
    // In two programs.
    let host = try host()
    let second = try app.run("host-one", "B")
    #expect(second.status == 1 && second.output == "" && second.errors.contains("kindInUse: another program of the app shows B"))
    let other = try app.start(["host-one", "D"])
    try other.wait(for: "D\t1")
    #expect(try app.run("list").output == "A B C D\n")
    host.kill()
    let next = try app.start(["host-one", "B"])
    try next.wait(for: "B\t1")
  }

  @Test("outside of an app requests and hosts are refused") func notAnApp() throws {
    let host = try app.run("host-one", "A", isApp: false)
    #expect(host.status == 1 && host.output == "" && host.errors.contains("notInApp") && host.errors.contains("coffer app run"))
    let reload = try app.run("reload", "1", "A", isApp: false)
    #expect(reload.status == 0 && reload.errors.contains("coffer.widgets") && reload.errors.contains("notInApp"))
    #expect(try app.run("request", "A", isApp: false).status != 0)
    #expect(try app.run("list", isApp: false).status != 0)
  }

  @Test("deleted files are created again, and no request is lost") func removedFiles() throws {
    let host = try host()
    try FileManager.default.removeItem(at: app.requests.appending(path: "B.kind"))
    try host.wait(for: "B\t2")
    try app.run("reload", "1", "B")
    try host.wait(for: "B\t3")
    // The file was truncated, which may have removed a request.
    try Data().write(to: app.requests.appending(path: "B.kind"))
    try host.wait(for: "B\t4")
    try FileManager.default.moveItem(at: app.requests, to: app.root.appending(path: "elsewhere"))
    try host.wait(for: "A\t2", "B\t5", "C\t2")
    try app.run("reload-all", "1")
    try host.wait(for: "A\t3", "B\t6", "C\t3")
    _ = try host.rest()
    #expect(counts(host, "A") == numbers(1...3) && counts(host, "B") == numbers(1...6) && counts(host, "C") == numbers(1...3))
  }

  @Test func obstaclesAreReported() throws {
    try FileManager.default.createSymbolicLink(
      atPath: app.requests.path, withDestinationPath: FileManager.default.temporaryDirectory.path)
    let host = try app.run("host-one", "A")
    #expect(host.status == 1 && host.errors.contains("container: ") && host.errors.contains("Library/Widgets"))
    #expect(try app.run("reload", "1", "A").errors.contains("container, "))
    try FileManager.default.removeItem(at: app.requests)
    try FileManager.default.createDirectory(at: app.requests, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: app.requests.appending(path: "A.kind").path, withDestinationPath: "/dev/null")
    #expect(try app.run("host-one", "A").errors.contains("A.kind: "))
    #expect(try app.run("reload", "1", "A").errors.contains("A.kind: "))
  }

  @Test("without inotify a host reports an error instead of polling") func notWatchable() throws {
    let host = try app.run(
      "host-one", "A",
      under: ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=inotify_init1", "-e", "inject=inotify_init1:error=EMFILE"])
    #expect(host.status == 1 && host.output == "" && host.errors.contains("notWatchable") && host.errors.contains("fs.inotify"))
  }
}
