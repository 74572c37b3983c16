import Foundation
import SystemBench
import Testing

/// Apps whose manifests the agent keeps, while their executables and containers lie with the user.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason))) struct SystemAppTests {
  let bench: SystemBench

  init() throws {
    bench = try SystemBench()
    let made = try bench.coffer("vault", "init", "--low-memory", "--passphrase-fd", "0", input: "correct horse\n")
    try #require(made.status == 0, "\(made.errors)")
  }

  private func shell(_ script: String) throws -> Child.Outcome { try bench.run("/bin/sh", ["-eu", "-c", script]) }

  /// Signs `AgentProbe` with another ending as an app, and says what `coffer app install` says.
  private func install(
    _ identifier: String, team: String = "team", version: Int = 1, content: String? = nil, passphrase: String = "correct horse"
  ) throws -> Child.Outcome {
    let source = "\(bench.home.path)/\(identifier)"
    let prepared = try shell(
      """
      umask 077; mkdir -p \(source)/bin; cd \(bench.home.path)
      cp \(bench.programs.path)/AgentProbe \(source)/bin/program; printf '%s' '\(content ?? identifier)' >>\(source)/bin/program
      test -e \(team).key || coffer app keygen \(team).key >\(team)
      echo '{ Identifier = "\(identifier)"; DisplayName = X; Version = \(version); Executables = ( { Path = bin/program; } );
        "keychain-access-groups" = ( "$(TEAM).shared" ); }' >\(source)/manifest.plist
      coffer app sign \(source)/manifest.plist --key \(team).key >\(source)/signed.plist
      """)
    try #require(prepared.status == 0, "\(prepared.errors)")
    return try bench.coffer(
      "app", "install", "\(source)/signed.plist", "--from", source, "--passphrase-fd", "0", input: "\(passphrase)\n")
  }

  private func program(_ identifier: String, team: String = "team") throws -> String {
    "\(bench.home.path)/.local/share/coffer/Apps/\(try name(identifier, team)).\(identifier)/bin/program"
  }

  private func name(_ identifier: String, _ team: String) throws -> String {
    try shell("cat \(bench.home.path)/\(team)").lines.first ?? ""
  }

  private func ask(_ program: String, _ verb: String = "once", environment: [String: String] = [:]) throws -> [String] {
    try bench.run(program, [verb, bench.socket], environment: environment).lines
  }

  private func coffer(_ arguments: String...) throws -> Child.Outcome {
    try bench.run(
      bench.programs.appending(path: "coffer").path, arguments + ["--passphrase-fd", "0"], input: "correct horse\n")
  }

  @Test func anAppIsInstalledByTheOwnerAndKnownByItsContent() throws {
    #expect(try install("com.example.one", passphrase: "wrong").status == 7)
    let installed = try install("com.example.one")
    #expect(installed.status == 0, "\(installed.errors)")
    let one = try program("com.example.one")
    #expect(try ask(one) == ["done"])
    // Wherever it lies.
    _ = try shell("cp \(one) \(bench.home.path)/copy; chmod 755 \(bench.home.path)/copy")
    #expect(try ask(bench.home.path + "/copy") == ["done"])
    // And not what was changed.
    _ = try shell("printf x >>\(bench.home.path)/copy")
    #expect(try ask(bench.home.path + "/copy") == ["missingEntitlement"])
    #expect(try coffer("app", "list").lines.map { $0.split(separator: "\t").last } == ["installed"])
  }

  /// The user's files are the user's: what they say of an app counts for nothing.
  @Test func aManifestThatTheUserPutsThereGivesNothing() throws {
    #expect(try install("com.example.one").status == 0)
    _ = try shell(
      """
      cd \(bench.home.path)/.local/share/coffer/Apps; app=$(cat ../../../../team).com.example.one
      fake=$(cat ../../../../team).com.example.fake; cp -r $app $fake; chmod -R u+w $fake; printf y >>$fake/bin/program
      """)
    let fake = try program("com.example.fake")
    #expect(try ask(fake) == ["missingEntitlement"])
    #expect(try ask(program("com.example.one")) == ["done"])
    // Nor does it take anything away.
    _ = try shell("cd \(bench.home.path)/.local/share/coffer/Apps; chmod -R u+w .; rm */Manifest.plist")
    #expect(try ask(program("com.example.one")) == ["done"])
  }

  @Test func onlyTheOwnerInstallsAndGrants() throws {
    #expect(try install("com.example.one").status == 0)
    for verb in [["remove", "com.example.one"], ["grant", "com.example.one", "default", "--read"]] {
      #expect(try bench.run(bench.programs.appending(path: "coffer").path, ["app"] + verb).status == 5, "\(verb)")
    }
    // To look takes no proof while the vault is unlocked.
    for verb in [["app", "list"], ["app", "show", "com.example.one"], ["access", "list"]] {
      #expect(try bench.run(bench.programs.appending(path: "coffer").path, verb).status == 0, "\(verb)")
    }
    // A key file that lies there for programs.
    let key = bench.home.path + "/key"
    let added = try shell(
      "umask 077; head -c 32 /dev/urandom >\(key); printf 'correct horse' | coffer vault slot add --new-key-file \(key) --passphrase-fd 0"
    )
    #expect(added.status == 0, "\(added.errors)")
    let coffer = bench.programs.appending(path: "coffer").path
    #expect(try bench.run(coffer, ["vault", "unlock", "--key-file", key]).status == 0)
    #expect(try bench.run(coffer, ["app", "grant", "coffer", "default", "--read", "--key-file", key]).status == 6)
    #expect(try bench.run(coffer, ["vault", "slot", "remove", "1", "--key-file", key]).status == 6)
    #expect(try ask(program("com.example.one")) == ["done"])
  }

  @Test func removedAppsAreNobodyAndForgottenOnesLeaveNothing() throws {
    #expect(try install("com.example.one").status == 0)
    let one = try program("com.example.one")
    _ = try shell("cp \(one) \(bench.home.path)/copy; chmod 755 \(bench.home.path)/copy")
    let removed = try coffer("app", "remove", "com.example.one")
    #expect(removed.status == 0, "\(removed.errors)")
    #expect(!FileManager.default.fileExists(atPath: one))
    #expect(try ask(bench.home.path + "/copy") == ["missingEntitlement"])
    #expect(try coffer("app", "list").lines.map { $0.split(separator: "\t").last } == ["removed"])
    #expect(try install("com.example.one").status == 0)
    #expect(try ask(one) == ["done"])
    #expect(try coffer("app", "forget", "com.example.one").status != 0)
    #expect(try coffer("app", "remove", "com.example.one").status == 0)
    #expect(try coffer("app", "forget", "com.example.one").status == 0)
    #expect(try coffer("app", "list").output == "")
  }

  /// A damaged record of the vault may be an item of the app: all else is removed, and the command says so.
  @Test func damagedRecordsDoNotKeepAnApp() throws {
    #expect(try install("com.example.one").status == 0)
    #expect(try bench.coffer("secret", "set", "mail/ada", input: "x").status == 0)
    bench.stop()
    let vault = bench.state.path + "/vault.coffer"
    let damage = "UPDATE rec SET a=zeroblob(length(a)) WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')"
    let damaged = try bench.run("/bin/sh", ["-c", "sqlite3 \(vault) \"\(damage)\" && chown \(bench.agent) \(vault)*"], as: 0)
    try #require(damaged.status == 0, "\(damaged)")
    try bench.start()
    #expect(try coffer("vault", "unlock").status == 0)
    for verb in ["remove", "forget"] {
      let outcome = try coffer("app", verb, "com.example.one")
      #expect(outcome.status == 9 && outcome.errors.contains("removed, but for damaged records"), "\(verb): \(outcome)")
      let states = try coffer("app", "list").lines.map { $0.split(separator: "\t").last }
      #expect(states == (verb == "remove" ? ["removed"] : []))
    }
    #expect(try coffer("app", "forget", "com.example.one").status == 3)
  }

  @Test func aGrantLetsAnAppOfAnotherTeamIn() throws {
    #expect(try install("com.example.one").status == 0)
    let group = try name("", "team") + ".shared"
    #expect(try coffer("app", "grant", "coffer", group, "--read", "--write", "--list").status == 0)
    #expect(try bench.coffer("secret", "set", "api/ada", "--group", group, input: "t0ken").status == 0)
    #expect(try bench.coffer("secret", "get", "api/ada", "--group", group).output == "t0ken")
    #expect(try coffer("app", "show", "coffer").output.contains(group))
    #expect(try coffer("app", "revoke", "coffer", group).status == 0)
    #expect(try bench.coffer("secret", "get", "api/ada", "--group", group).status == 6)
    #expect(try coffer("app", "grant", "com.example.one", "none", "--read").status == 3)
  }

  @Test func thePinOfAnOlderVersionStays() throws {
    #expect(try install("com.example.one", version: 2).status == 0)
    #expect(try install("com.example.one", version: 1, content: "old").status != 0)
    #expect(try ask(program("com.example.one")) == ["done"])
    #expect(try install("com.example.one", version: 3, content: "new").status == 0)
    #expect(try ask(program("com.example.one")) == ["done"])
  }

  /// The same content under two names is neither: where an app's own directory is, the agent cannot know.
  @Test func anExecutableOfSeveralAppsIsNeither() throws {
    #expect(try install("com.example.one", content: "same").status == 0)
    #expect(try ask(program("com.example.one")) == ["done"])
    #expect(try install("com.example.one", team: "other", content: "same").status == 0)
    #expect(try ask(program("com.example.one")) == ["missingEntitlement"])
  }

  // MARK: Visibility by tier

  /// One that hides from its own user does not hide from an agent with CAP_SYS_PTRACE.
  @Test func aProgramThatHidesIsKnown() throws {
    #expect(try install("com.example.one").status == 0)
    #expect(try ask(program("com.example.one"), "hidden") == ["done"])
  }

  /// Under an agent of the user's own it is nobody.
  @Test func aProgramThatHidesIsNobodyForAnAgentOfItsUser() throws {
    let made = try shell(
      """
      export COFFER_HOME=\(bench.home.path)/own; cd \(bench.home.path); umask 077; printf 'correct horse' >passphrase
      coffer vault init --low-memory --passphrase-fd 3 3<passphrase
      mkdir bin; cp \(bench.programs.path)/AgentProbe bin/program; coffer app keygen team.key >team
      echo '{ Identifier = com.example.one; DisplayName = X; Version = 1; Executables = ( { Path = bin/program; } ); }' >m.plist
      coffer app sign m.plist --key team.key >signed.plist
      coffer app install signed.plist --passphrase-fd 3 3<passphrase 2>/dev/null >/dev/null
      coffer vault unlock --passphrase-fd 3 3<passphrase
      app=$COFFER_HOME/Apps/$(cat team).com.example.one/bin/program
      $app once $COFFER_HOME/run/agent.sock; $app hidden $COFFER_HOME/run/agent.sock; coffer agent stop
      """)
    #expect(made.lines == ["done", "missingEntitlement"], "\(made.errors)")
  }

  /// Not defended, and pinned: code that is injected into an app has the app's content, under this agent too.
  @Test func injectedCodeIsTheAppItself() throws {
    #expect(try install("com.example.one").status == 0)
    let library = "/usr/lib/x86_64-linux-gnu/libsodium.so.23"
    #expect(try ask(program("com.example.one"), environment: ["LD_PRELOAD": library]) == ["done"])
  }
}
