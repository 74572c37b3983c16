import Foundation
import Testing

/// A process is killed at each relevant system call: an acknowledged request is served once, any other one once or not at all.
@Suite struct KillTests {
  let app: AppPrograms

  init() throws { app = try AppPrograms() }

  private func killing(_ call: String, _ number: Int) -> [String] {
    ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(number)"]
  }

  @Test(arguments: ["openat", "fcntl", "write", "newfstatat", "close"]) func theRequestingProgramIsKilled(call: String) throws {
    let host = try app.start(["host"])
    try host.wait(for: "A\t1", "B\t1", "C\t1")
    var (asked, atLeast) = (0, 0)
    var (number, wasKilled) = (0, true)
    while wasKilled {
      number += 1
      let outcome = try app.run("request", "A", under: killing(call, number))
      wasKilled = outcome.status >= 128
      asked += 1
      if outcome.output == "acknowledged\n" { atLeast += 1 }
    }
    #expect(number > 1, "\(call): never killed")
    #expect(atLeast > 0)
    // The last request, after all others.
    try app.run("reload", "1", "A")
    while true {
      let count = host.lines.filter { $0.hasPrefix("A\t") }.count
      if count >= 1 + atLeast + 1 { break }
      try host.wait(for: "A\t\(count + 1)")
    }
    try app.run("reload", "1", "B")
    try host.wait(for: "B\t2")
    _ = try host.rest()
    let count = host.lines.filter { $0.hasPrefix("A\t") }.count
    #expect(count >= 1 + atLeast + 1 && count <= 1 + asked + 1, "\(count) questions, \(atLeast) acknowledged, \(asked) in all")
    #expect(host.lines.filter { $0.hasPrefix("B\t") } == ["B\t1", "B\t2"])
  }

  @Test(arguments: ["mkdirat", "openat", "inotify_add_watch", "fcntl", "ftruncate", "newfstatat"])
  func theHostIsKilled(call: String) throws {
    var number = 0
    while true {
      number += 1
      let first = try app.start(["host"], under: killing(call, number))
      // A request meanwhile, in any state of the host.
      let asked = try app.run("request", "A")
      #expect(asked.output == "acknowledged\n", "\(call) \(number): \(asked)")
      let isKilled = (try? first.wait(for: "A\t1", "B\t1", "C\t1")) == nil
      _ = try first.rest()
      // The next host calls the provider of each kind once, and then continues normally.
      let next = try app.start(["host"])
      try next.wait(for: "A\t1", "B\t1", "C\t1")
      try app.run("reload", "1", "A")
      try next.wait(for: "A\t2")
      _ = try next.rest()
      #expect(next.lines.sorted() == ["A\t1", "A\t2", "B\t1", "C\t1"], "\(call) \(number)")
      if !isKilled { break }
      try #require(number < 400)
    }
    #expect(number > 1 || call == "mkdirat", "\(call): never killed")
  }
}
