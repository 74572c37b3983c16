import CofferFiles
import CofferPreferences
import CofferPropertyLists
import Glibc
import Synchronization
import Testing

/// The command beside a program that runs: this test.
@Suite struct DefaultsLiveTests {
  let workspace: Workspace
  let domain: FileDomain

  init() throws {
    workspace = try Workspace()
    let directory = PreferenceDirectory("\(workspace.path)/coffer/Preferences")
    domain = FileDomain(try DomainName("com.example.app"), in: directory)
    ChangeWatch.start()
  }

  /// Runs a step that must succeed, and prints what is given.
  private func run(_ command: String, prints output: [String] = []) throws {
    let step = Transcript.Step(command: command, output: output)
    let failures = try workspace.run(step)
    #expect(failures.isEmpty, "\(command): \(failures)")
  }

  @Test("a change by the command is seen live by a running program, and its own values are not lost")
  func commandChangesARunningProgram() throws {
    try domain.set(.string("Ada"), forKey: "name")
    let seen = Changes()
    let observation = domain.observe { seen.add($0) }
    try run("coffer defaults write com.example.app volume -float 0.5")
    #expect(seen.wait(for: "volume") == .real(0.5))
    #expect(domain.value(forKey: "volume") == .real(0.5))
    try domain.set(.integer(1), forKey: "count")
    try run("coffer defaults write com.example.app volume -float 0.8 && coffer defaults delete com.example.app name")
    #expect(seen.wait(until: { $0.contains { $0.name == "name" && $0.new == nil } }))
    #expect(domain.values().sorted.map(\.key) == ["count", "volume"])
    try run("coffer defaults read com.example.app --json", prints: [#"{"count":1,"volume":0.8}"#])
    observation.cancel()
  }

  @Test("a value that another process sets reaches the observers of this one, with the old value")
  func anotherProcessSets() throws {
    try domain.set(.integer(1), forKey: "number")
    let seen = Changes()
    let observation = domain.observe { seen.add($0) }
    try run("coffer defaults write com.example.app number -int 42")
    #expect(seen.wait(for: "number") == .integer(42))
    #expect(seen.all.first { $0.name == "number" }?.old == .integer(1))
    #expect(seen.origins == [.otherProcess])
    observation.cancel()
  }

  @Test func renameTakesTheValueThatAnotherProcessIsWriting() throws {
    try domain.set(.string("old"), forKey: "name")
    // The command is left waiting for the lock, with all the time it needs to look at the value that is there now.
    try domain.update("name") { _ in
      let step = """
        (sh -c 'echo $$ >process; exec coffer defaults rename com.example.app name title'; echo $? >status) >said 2>&1 &
        until [ -s process ] && ls -l /proc/$(cat process)/fd | grep -q 'app[.]lock'; do sleep 0.01; done
        sleep 0.6
        """
      #expect(throws: Never.self) { try self.run(step) }
      return .string("new")
    }
    try run("until [ -s status ]; do sleep 0.01; done; cat said status", prints: ["0"])
    #expect(domain.values().sorted.map(\.key) == ["title"])
    #expect(domain.value(forKey: "title") == .string("new"))
  }

  @Test("explain names the domain that a value comes from")
  func explainNamesTheDomain() throws {
    try run("coffer defaults write -g isLoud -bool yes")
    let places = [
      "managed", "managed", "application, this host", "application", "global, this host", "global", "application, any user",
      "global, any user",
    ]
    func lines(_ values: [String: String], answer: String) -> [String] {
      places.map { "\($0 == answer ? "*" : "")\t\($0)\t\(values[$0] ?? "-")\t[..]" }
    }
    try run("coffer defaults explain com.example.app isLoud", prints: lines(["global": "true"], answer: "global"))
    // A Boolean that the user has never set flips when the program's own default changes; one that was set does not.
    try domain.set(.boolean(false), forKey: "isLoud")
    try run(
      "coffer defaults explain com.example.app isLoud",
      prints: lines(["application": "false", "global": "true"], answer: "application"))
  }
}

/// The changes that an observer received, on any thread.
private final class Changes: Sendable {
  private let changes = Mutex<[PreferenceChange]>([])

  func add(_ change: PreferenceChange) { changes.withLock { $0.append(change) } }

  var all: [PreferenceChange.Key] { changes.withLock { $0.flatMap(\.keys) } }
  var origins: Set<PreferenceChange.Origin> { changes.withLock { Set($0.map(\.origin)) } }

  /// False where it has not come true after five minutes.
  func wait(until isTrue: ([PreferenceChange.Key]) -> Bool) -> Bool {
    let deadline = Deadline(milliseconds: 300_000)
    while !isTrue(all) {
      guard !deadline.hasPassed else { return false }
      usleep(1000)
    }
    return true
  }

  /// The first new value of the key.
  func wait(for key: String) -> PropertyListValue? {
    _ = wait { $0.contains { $0.name == key } }
    return all.first { $0.name == key }?.new
  }
}
