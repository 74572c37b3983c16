import Foundation
import SystemBench
import Testing

/// A key file beside a passphrase, in the vault of the system's agent: it opens the vault for programs, and is not the owner.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason)), .timeLimit(.minutes(60)))
struct SystemKeyFileTests {
  private let bench: SystemBench
  private var key: String { bench.home.path + "/key" }

  init() throws {
    bench = try SystemBench()
    let files = try bench.run("/bin/sh", ["-c", "umask 077; cd ~; for f in key new; do head -c 64 /dev/urandom >$f; done"])
    try #require(files.status == 0, "\(files)")
    try #require(try owner("vault", "init", "--low-memory").status == 0)
    let added = try owner("vault", "slot", "add", "--new-key-file", key)
    try #require(added.status == 0, "\(added)")
    try #require(try owner("group", "create", "team").status == 0)
    try #require(try owner("app", "grant", "coffer", "team", "--read").status == 0)
    try #require(try bench.coffer("secret", "set", "mail/ada", input: "s3cret").status == 0)
    try #require(try bench.coffer("vault", "unlock", "--key-file", key).status == 0)
  }

  private func owner(_ arguments: String...) throws -> Child.Outcome {
    try bench.run(
      bench.programs.appending(path: "coffer").path, arguments + ["--passphrase-fd", "0"], input: "correct horse\n")
  }

  private func state() throws -> [String] {
    let reports = [
      try owner("vault", "verify", "--json"), try owner("vault", "policy"), try owner("access", "list"),
      try owner("group", "list"),
      try bench.coffer("vault", "slot", "list"),
    ]
    for report in reports { try #require(report.status == 0, "\(report)") }
    return reports.map(\.output)
  }

  @Test func itChangesAndReadsNothingOfTheOwners() throws {
    let before = try state()
    for words in [
      "vault policy history-versions=0", "vault policy", "vault slot add --new-recovery-key",
      "vault slot add --new-key-file \(bench.home.path)/new", "vault slot remove 1 --force", "vault kdf --passes 4 --force",
      "vault verify", "vault backup", "vault backup \(bench.home.path)/copy", "vault accept-rollback --force",
      "vault rotate --force", "vault repair --dry-run", "vault restore --force", "group create other",
      "group rename team other",
      "group rm team --with-items --force", "app grant coffer default --read", "app revoke coffer team",
      "secret purge --deleted --force",
    ] {
      let refused = try bench.run(
        bench.programs.appending(path: "coffer").path, words.split(separator: " ").map(String.init) + ["--key-file", key])
      #expect(
        refused.status == 6 && refused.errors.contains("the system's agent refuses it (only the owner"), "\(words): \(refused)")
    }
    #expect(try state() == before)
    #expect(!FileManager.default.fileExists(atPath: bench.home.path + "/copy"))
    // It is what it is for.
    #expect(try bench.coffer("secret", "get", "mail/ada", "--key-file", key).output == "s3cret")
  }
}
