import Foundation
import SystemBench
import Testing

/// Work on the whole vault of the system's agent, by the command of its user.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason)), .timeLimit(.minutes(60)))
struct SystemUpkeepTests {
  private let bench: SystemBench

  init() throws {
    bench = try SystemBench()
    try #require(try coffer("vault", "init", "--low-memory").status == 0)
    try #require(try bench.coffer("secret", "set", "mail/ada", input: "s3cret").status == 0)
  }

  private func coffer(_ arguments: String..., passphrase: String = "correct horse") throws -> SystemBench.Outcome {
    try bench.run(
      bench.programs.appending(path: "coffer").path, arguments + ["--passphrase-fd", "0"], input: passphrase + "\n")
  }

  @Test func thePolicyIsShownAndSet() throws {
    let standard = try coffer("vault", "policy")
    #expect(standard.status == 0 && standard.lines.contains("history-versions\t10\tstandard"), "\(standard)")
    let set = try coffer("vault", "policy", "history-versions=3", "idle-minutes=5", "--json")
    #expect(set.status == 0 && set.output.hasPrefix(#"{"history-versions":3,"history-days":90,"idle-minutes":5,"#), "\(set)")
    #expect(try coffer("vault", "policy").lines.contains("history-versions\t3\tset"))
    #expect(try coffer("vault", "policy", "history-versions=65").status == 2)
    // A change takes a credential that opens the vault. The vault may stay locked.
    #expect(try coffer("vault", "policy", "history-versions=1", passphrase: "wrong").status == 7)
    #expect(try bench.coffer("vault", "lock").status == 0)
    #expect(try coffer("vault", "policy").lines.contains("history-versions\t3\tset"))
    #expect(try bench.coffer("agent", "status", "--system").lines == ["locked"])
  }

  @Test func everythingIsChecked() throws {
    let verified = try coffer("vault", "verify")
    #expect(verified.status == 0 && verified.output == "2 records, all sound\n", "\(verified)")
    #expect(try coffer("vault", "verify", passphrase: "wrong").status == 7)
    let json = try coffer("vault", "verify", "--json")
    #expect(json.output.hasPrefix(#"{"sound":true,"records":2,"#) && json.output.contains(#""rollback":null"#), "\(json)")
    // A state from before, put back.
    bench.stop()
    let vault = bench.state.path + "/vault.coffer"
    let old = try Data(contentsOf: URL(filePath: vault))
    try bench.start()
    try #require(try coffer("vault", "unlock").status == 0)
    try #require(try bench.coffer("secret", "set", "mail/bob", input: "x").status == 0)
    bench.stop()
    try old.write(to: URL(filePath: vault), options: [])
    try bench.start()
    let rolledBack = try coffer("vault", "verify")
    #expect(
      rolledBack.status == 9 && rolledBack.errors.hasPrefix("coffer: the system's vault: is an older state"), "\(rolledBack)")
  }
}
