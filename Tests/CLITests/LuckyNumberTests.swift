import CofferFiles
import Foundation
import Synchronization
import Testing

/// The example: app, widget and intent handler, three programs of one signed app, started by `coffer app run`.
@Suite struct LuckyNumberTests {
  struct Setting: Sendable, CustomTestStringConvertible {
    let isSandboxed: Bool
    let roundCount: Int

    var testDescription: String { isSandboxed ? "in the sandbox" : "without a sandbox" }

    /// The long one as the app is meant to run, where that is possible.
    static var all: [Setting] {
      AppRunTests.isSandboxPossible()
        ? [Setting(isSandboxed: true, roundCount: 99), Setting(isSandboxed: false, roundCount: 3)]
        : [Setting(isSandboxed: false, roundCount: 99)]
    }
  }

  private static func app(isSandboxed: Bool) throws -> SwiftApp {
    try SwiftApp(
      "com.example.lucky-number", programs: ["LuckyNumber", "LuckyNumberWidget", "LuckyNumberIntents"],
      draft: "Examples/LuckyNumber/LuckyNumber.plist", isSandboxed: isSandboxed)
  }

  /// The widget, running, with what it shows in a file.
  private struct Widget {
    private static let limit = 300_000

    private let program: Child
    private let path: String
    private let errorPath: String

    init(of app: SwiftApp) throws {
      path = "\(app.workspace.path)/shown"
      errorPath = "\(app.workspace.path)/errors"
      program = try Child.spawning.withLock { _ in
        try Child(
          "exec \(app.command("LuckyNumberWidget")) >shown 2>errors </dev/null", in: app.workspace.path,
          environment: app.workspace.environment)
      }
    }

    var lines: [String] { ((try? Workspace.read(path)) ?? "").split(separator: "\n").map(String.init) }

    var errors: String { (try? Workspace.read(errorPath)) ?? "" }

    /// Waits until it has shown so many entries.
    func wait(count: Int) -> Bool {
      let deadline = Deadline(milliseconds: Self.limit)
      while lines.count < 2 * count {
        guard !deadline.hasPassed else { return false }
        usleep(2_000)
      }
      return true
    }

    static func entry(_ number: Int) -> [String] {
      ["LuckyNumber\tFrom UserDefaults: \(number)", "LuckyNumber\tFrom File: \(number)"]
    }
  }

  @Test("the widget shows the new number from both places, round after round", arguments: Setting.all)
  func rounds(setting: Setting) throws {
    let app = try Self.app(isSandboxed: setting.isSandboxed)
    let widget = try Widget(of: app)
    // Neither place has a number.
    try #require(widget.wait(count: 1), "\(widget.errors)")
    var expected = Widget.entry(0)
    #expect(widget.lines == expected)
    for round in 1...setting.roundCount {
      // Each number once, in no order.
      let number = round * 37 % 100
      let outcome = try app.run("LuckyNumber", "\(number)")
      try #require(outcome.status == 0 && outcome.output == "\(number)\n", "\(outcome)")
      try #require(widget.wait(count: 1 + round), "round \(round): \(widget.lines.suffix(4))")
      expected += Widget.entry(number)
      try #require(widget.lines == expected)
    }
    // The third program changes it without the first.
    let last = setting.roundCount * 37 % 100 + 1
    #expect(try app.run("LuckyNumberIntents").output == "\(last)\n")
    try #require(widget.wait(count: 2 + setting.roundCount))
    #expect(widget.lines == expected + Widget.entry(last))
    // Where the two places are.
    let files = try app.workspace.run(
      script: "g=coffer/Groups/$(cat team).lucky-number; cat $g/luckyNumber.txt; ls $g/Library/Preferences | grep -c plist")
    #expect(files.output == "\(last)1\n")
  }

  @Test("without the app's environment each of them says what is missing") func notAnApp() throws {
    let workspace = try Workspace()
    for (program, text) in [
      ("LuckyNumber", "not an app of the group"), ("LuckyNumberIntents", "not an app of the group"),
      ("LuckyNumberWidget", "notInApp"),
    ] {
      let outcome = try workspace.run(script: program)
      #expect(outcome.status == 1 && outcome.output == "" && outcome.errors.contains(text), "\(outcome)")
    }
  }

  @Test("a manifest without the group leaves the app alone with its store") func withoutTheGroup() throws {
    let manifest = """
      { Identifier = com.example.lucky-number; DisplayName = X; Version = 1;
        Executables = (
          { Path = LuckyNumber; }
        );
      }
      """
    let app = try SwiftApp("com.example.lucky-number", programs: ["LuckyNumber"], draft: manifest, isSandboxed: false)
    let outcome = try app.run("LuckyNumber", "7")
    #expect(outcome.status == 1 && outcome.errors.contains("application-groups") && outcome.errors.contains(".lucky-number"))
  }
}

/// The files that remain of a removed app.
@Suite struct ReinstalledAppTests {
  @Test("the first launch prints nothing, the second what the first has stored; removed and installed again as well")
  func launches() throws {
    let manifest = """
      { Identifier = com.example.hoge; DisplayName = Hoge; Version = 1;
        Executables = (
          { Path = PreferenceProbe; }
        );
      }
      """
    let app = try SwiftApp(
      "com.example.hoge", programs: ["PreferenceProbe"], draft: manifest, isSandboxed: AppRunTests.isSandboxPossible())
    for round in 1...2 {
      let first = try app.run("PreferenceProbe", "launch standard")
      #expect(first.status == 0 && first.output == "", "\(round): \(first)")
      #expect(try app.run("PreferenceProbe", "launch standard").output == "hoge 1.0\n", "\(round)")
      let again = try app.workspace.run(
        script: "coffer app remove com.example.hoge --key-file key && coffer app install app/signed --key-file key")
      #expect(again.status == 0, "\(again.errors)")
    }
  }
}
