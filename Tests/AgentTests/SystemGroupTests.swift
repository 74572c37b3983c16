import Foundation
import SystemBench
import Testing

/// Groups of the vault that the system agent keeps.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason))) struct SystemGroupTests {
  let bench: SystemBench

  init() throws {
    bench = try SystemBench()
    let made = try bench.coffer("vault", "init", "--low-memory", "--passphrase-fd", "0", input: "correct horse\n")
    try #require(made.status == 0, "\(made.errors)")
  }

  private func owner(_ arguments: String...) throws -> Child.Outcome {
    try bench.run(
      bench.programs.appending(path: "coffer").path, arguments + ["--passphrase-fd", "0"], input: "correct horse\n")
  }

  @Test func theOwnerMakesRenamesAndRemovesThem() throws {
    #expect(try owner("group", "create", "work").status == 0)
    #expect(try owner("group", "create", "work").status == 4)
    let stored = try bench.run("/bin/sh", ["-c", "printf s3cret | coffer secret set db/app --group work"])
    #expect(stored.status == 0, "\(stored.errors)")
    #expect(try owner("group", "rename", "work", "job").status == 0)
    #expect(try owner("group", "rename", "default", "other").status == 2)
    #expect(try bench.coffer("secret", "get", "db/app", "--group", "job").lines == ["s3cret"])
    #expect(try bench.coffer("group", "list", "--no-input").lines == ["default\t0\t0\t", "job\t1\t0\twhen-unlocked 1"])
    #expect(try bench.coffer("secret", "edit", "db/app", "--group", "job", "--accessible", "after-first-unlock").status == 0)
    #expect(try bench.coffer("group", "list", "--no-input").lines.last == "job\t1\t0\tafter-first-unlock 1")
    #expect(try owner("group", "rm", "job").status == 1)
    #expect(try owner("group", "rm", "job", "--with-items", "--force").status == 0)
    #expect(try bench.coffer("group", "list", "--no-input").lines == ["default\t0\t0\t"])
    #expect(try owner("group", "rm", "job", "--with-items", "--force").status == 3)
  }

  /// Without the owner's credential.
  @Test func anotherProgramChangesNoGroup() throws {
    #expect(try owner("group", "create", "work").status == 0)
    for arguments in [["create", "new"], ["rename", "work", "new"], ["rm", "work"]] {
      let refused = try bench.run(bench.programs.appending(path: "coffer").path, ["group"] + arguments + ["--no-input"])
      #expect(refused.status == 5, "\(refused.errors)")
    }
    #expect(try owner("group", "list").lines.map { $0.prefix { $0 != "\t" } } == ["default", "work"])
  }

  /// The command writes the entry before the agent is asked for the change.
  @Test func withoutAnEntryNoGroupIsChanged() throws {
    #expect(try owner("group", "create", "first").status == 0)
    let closed = try bench.run("/bin/sh", ["-c", "cd \"$(find ~ -type d -name decisions)\" && chmod 0 * && chmod 500 ."])
    #expect(closed.status == 0, "\(closed.errors)")
    let refused = try owner("group", "create", "second")
    #expect(refused.status != 0 && refused.errors.contains("the audit log"), "\(refused.errors)")
    #expect(try bench.coffer("group", "list", "--no-input").lines.map { $0.prefix { $0 != "\t" } } == ["default", "first"])
  }
}
