import Foundation
import SystemBench
import Testing

/// Former versions in the vault of the system's agent: only the owner ends them.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason)), .timeLimit(.minutes(60)))
struct SystemVersionTests {
  private let bench: SystemBench
  private static let passphrase = ["--passphrase-fd", "0"]

  init() throws {
    bench = try SystemBench()
    try #require(try coffer(["vault", "init", "--low-memory"] + Self.passphrase, "correct horse\n").status == 0)
    for value in ["one", "two", "three"] {
      try #require(try coffer(["secret", "set", "mail/ada", "--update"], value).status == 0)
    }
    try #require(try coffer(["secret", "set", "mail/bob"], "one").status == 0)
  }

  private func coffer(_ arguments: [String], _ input: String = "") throws -> Child.Outcome {
    try bench.run(bench.programs.appending(path: "coffer").path, arguments, input: input)
  }

  private func expectRefusal(_ arguments: String..., place: SourceLocation = #_sourceLocation) throws {
    let refused = try coffer(["secret"] + arguments + ["--force"])
    #expect(
      refused.status == 6
        && refused.errors.contains(": the system's agent refuses it (only the owner removes for good)\n")
        && refused.errors.contains("\nhint: to prove the owner: --passphrase-fd N, --key-file FILE or --recovery-key-fd N; "),
      "\(refused)",
      sourceLocation: place)
  }

  private func versions(_ name: String) throws -> Int { try coffer(["secret", "history", name]).lines.count }

  @Test func aProgramEndsNoValue() throws {
    let number = try #require(
      try coffer(["secret", "history", "mail/ada"]).lines.last?.split(separator: "\t").first.map(String.init))
    let count = try versions("mail/ada")
    try expectRefusal("purge", "mail/ada", "--all")
    try expectRefusal("purge", "mail/ada", "--version", number)
    try expectRefusal("rm", "mail/ada", "--purge")
    #expect(try coffer(["secret", "get", "mail/ada"]).output == "three")
    #expect(try coffer(["secret", "rm", "mail/bob"]).status == 0)
    try expectRefusal("purge", "--deleted")
    try expectRefusal("purge", "mail/bob", "--all")
    let expired = try coffer(["secret", "purge", "--expired"])
    #expect(expired.output == "0 versions removed\n", "\(expired)")
    #expect(try versions("mail/ada") == count)
    // Nor does it read or restore a former one.
    #expect(try coffer(["secret", "get", "mail/ada", "--version", number]).status == 5)
    #expect(try coffer(["secret", "restore", "mail/bob"]).status == 5)
    let log = try coffer(["app", "log"] + Self.passphrase, "correct horse\n")
    #expect(log.output.contains("only the owner removes for good"), "\(log)")
  }

  @Test func aKeyFileIsNotTheOwner() throws {
    let key = bench.home.path + "/key"
    try #require(try bench.run("/bin/sh", ["-c", "umask 077; head -c 64 /dev/urandom >\(key)"]).status == 0)
    let added = try coffer(["vault", "slot", "add", "--new-key-file", key] + Self.passphrase, "correct horse\n")
    try #require(added.status == 0, "\(added)")
    try #require(try coffer(["vault", "lock"]).status == 0)
    try #require(try coffer(["vault", "unlock", "--key-file", key]).status == 0)
    try expectRefusal("purge", "mail/ada", "--all", "--key-file", key)
    try expectRefusal("purge", "mail/ada", "--all")
  }

  @Test func theOwnerEndsThem() throws {
    let purged = try coffer(["secret", "purge", "mail/ada", "--all", "--force"] + Self.passphrase, "correct horse\n")
    #expect(purged.status == 0 && purged.output == "2 versions removed\n", "\(purged)")
    #expect(try coffer(["secret", "rm", "mail/bob"]).status == 0)
    let deleted = try coffer(["secret", "purge", "--deleted", "--force"] + Self.passphrase, "correct horse\n")
    #expect(deleted.status == 0 && deleted.output == "1 version removed\n", "\(deleted)")
    let removed = try coffer(["secret", "rm", "mail/ada", "--purge", "--force"] + Self.passphrase, "correct horse\n")
    #expect(removed.status == 0, "\(removed)")
    #expect(try coffer(["secret", "history", "--deleted"]).lines.isEmpty)
  }

  /// At a terminal the command asks for the proof, though the vault is open.
  @Test func aPersonIsAskedForTheProof() throws {
    let script = """
      import os, pty, sys
      pid, terminal = pty.fork()
      if pid == 0: os.execvp('coffer', ['coffer', 'secret', 'purge', 'mail/ada', '--all', '--force'])
      text, answered = b'', False
      while True:
          try: piece = os.read(terminal, 4096)
          except OSError: break
          if not piece: break
          text += piece
          if b'assphrase' in text and not answered:
              answered = True
              os.write(terminal, b'correct horse\\r')
      sys.stdout.buffer.write(text)
      sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
      """
    let asked = try bench.run("/usr/bin/python3", ["-c", script])
    #expect(asked.status == 0 && asked.output.contains("assphrase") && asked.output.contains("2 versions removed"), "\(asked)")
  }
}
