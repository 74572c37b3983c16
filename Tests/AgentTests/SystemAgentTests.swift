import Foundation
import SystemBench
import Testing
import Waiting

/// The boundary against programs of the same user: two real users, and the agent as its unit starts it.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason))) struct SystemAgentTests {
  let bench: SystemBench

  init() throws { bench = try SystemBench() }

  private func initialize() throws {
    let made = try bench.coffer("vault", "init", "--low-memory", "--passphrase-fd", "0", input: "correct horse\n")
    try #require(made.status == 0, "\(made.errors)")
  }

  /// The attacks of a program of the user; prints whether each attempt succeeded.
  private static let attempts = """
    import ctypes, os, signal, sys
    process, vault, directory = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    def attempt(name, body):
        try: body(); print(name, 'yes')
        except OSError: print(name, 'no')
    def called(result):
        if result < 0: raise OSError(ctypes.get_errno())
    c = ctypes.CDLL(None, use_errno=True)
    def memory():
        with open(f'/proc/{process}/maps') as maps:
            start = int(maps.readline().split('-')[0], 16)
        with open(f'/proc/{process}/mem', 'rb') as file:
            file.seek(start); file.read(16)
    def vector():
        class Vector(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('count', ctypes.c_size_t)]
        try: maps = open(f'/proc/{process}/maps')
        except OSError: maps = open('/proc/self/maps')
        start = int(maps.readline().split('-')[0], 16)
        here = ctypes.create_string_buffer(16)
        called(c.process_vm_readv(process, ctypes.byref(Vector(ctypes.addressof(here), 16)), 1, ctypes.byref(Vector(start, 16)), 1, 0))
    def descriptor():
        pid = c.syscall(434, process, 0); called(pid); called(c.syscall(438, pid, 0, 0))
    attempt('file', lambda: open(vault, 'rb').read(1))
    attempt('list', lambda: os.listdir(directory))
    attempt('make', lambda: os.close(os.open(directory + '/new', os.O_CREAT | os.O_WRONLY)))
    attempt('memory', memory)
    attempt('vector', vector)
    attempt('descriptor', descriptor)
    attempt('environment', lambda: open(f'/proc/{process}/environ', 'rb').read())
    attempt('open files', lambda: os.listdir(f'/proc/{process}/fd'))
    attempt('ask', lambda: os.kill(process, 0))
    attempt('trace', lambda: called(c.ptrace(16, process, 0, 0)))
    """

  private func attempts(on process: Int32, _ vault: String, _ directory: String) throws -> [String] {
    try bench.run("/usr/bin/python3", ["-c", Self.attempts, "\(process)", vault, directory]).lines
  }

  static let names = ["file", "list", "make", "memory", "vector", "descriptor", "environment", "open files", "ask", "trace"]

  @Test func theUsersProgramsReachNeitherTheFileNorTheAgent() throws {
    try initialize()
    let vault = bench.state.path + "/vault.coffer"
    #expect(FileManager.default.fileExists(atPath: vault))
    #expect(try attempts(on: bench.agentProcess, vault, bench.state.path) == Self.names.map { "\($0) no" })
    // Control: the same attempts succeed against a program and a file of the user.
    let own = try bench.command("/bin/sleep", ["60"], as: bench.user)
    defer { own.end() }
    let file = bench.home.path + "/file"
    _ = try bench.run("/bin/sh", ["-c", "echo x >\(file)"])
    try wait(for: "the process is sleep") { try bench.run("/bin/cat", ["/proc/\(own.process)/comm"]).output == "sleep\n" }
    #expect(try attempts(on: own.process, file, bench.home.path) == Self.names.map { "\($0) yes" })
  }

  @Test func theSocketIsTheUsersAndItsPlaceIsRoots() throws {
    try initialize()
    let connect = "import socket,sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print('connected')"
    func tries(_ user: UInt32) throws -> String {
      try bench.run("/usr/bin/python3", ["-c", connect, bench.socket], as: user).output
    }
    #expect(try tries(bench.user) == "connected\n")
    #expect(try tries(bench.stranger) == "")
    // Nor can the user put another one there, for other programs to tell it the passphrase.
    let replace = "rm -f \(bench.socket) || mv \(bench.socket) \(bench.socket)x || touch \(bench.socket)x"
    #expect(try bench.run("/bin/sh", ["-c", replace]).status != 0)
    #expect(try tries(bench.user) == "connected\n")
  }

  /// Also with a connection that somebody else hands on, or where the mode of the socket were wrong.
  @Test func anotherUserIsRefusedByTheAgentToo() throws {
    try initialize()
    unsafe chmod(bench.socket, 0o666)
    let probe = bench.programs.appending(path: "AgentProbe").path
    #expect(try bench.run(probe, ["once", bench.socket]).lines == ["missingEntitlement"])
    #expect(try bench.run(probe, ["once", bench.socket], as: bench.stranger).lines != ["missingEntitlement"])
    #expect(
      try bench.run(probe, ["once", bench.socket], as: bench.stranger).lines.allSatisfy {
        ["closed", "not connected: 13"].contains($0)
      })
    // The superuser is told why: it reaches everything, and not by mistake.
    #expect(try bench.run(probe, ["once", bench.socket], as: 0).lines == ["missingEntitlement"])
    #expect(try log().contains("another user"))
  }

  private func log() throws -> String {
    try String(contentsOfFile: bench.state.path + "/state/audit/refusals/00000000000000000001.log", encoding: .utf8)
  }

  @Test func aProgramOfTheSystemIsKnownAsOne() throws {
    try initialize()
    let probe = bench.programs.appending(path: "AgentProbe").path
    #expect(try bench.run(probe, ["once", bench.socket]).lines == ["missingEntitlement"])
    #expect(try log().contains("no app: /"))
    // One of the user's own is nobody, wherever it lies.
    let copy = bench.home.path + "/probe"
    _ = try bench.run("/bin/sh", ["-c", "cp \(probe) \(copy); chmod 700 \(copy)"])
    #expect(try bench.run(copy, ["once", bench.socket]).lines == ["missingEntitlement"])
    // Not even what it is: nobody but the user may read it.
    #expect(try log().contains("no app: it cannot be read"))
    #expect(try bench.run("/usr/bin/python3", ["-c", "print('x')"]).output == "x\n")
  }

  // MARK: Keeping

  @Test func acknowledgedChangesSurviveLockKillAndRestart() throws {
    try initialize()
    #expect(try bench.coffer("secret", "set", "mail/ada", input: "hunter2").status == 0)
    #expect(try bench.coffer("vault", "lock").status == 0)
    #expect(try bench.coffer("secret", "get", "mail/ada").status == 5)
    #expect(try bench.coffer("vault", "unlock", "--passphrase-fd", "0", input: "correct horse\n").status == 0)
    #expect(try bench.coffer("secret", "get", "mail/ada").output == "hunter2")
    for signal in [SIGKILL, SIGTERM] {
      #expect(try bench.coffer("secret", "set", "mail/\(signal)", input: "\(signal)").status == 0)
      bench.stop(signal)
      try bench.start()
      // Locked: the keys were in its memory alone.
      #expect(try bench.coffer("secret", "get", "mail/\(signal)").status == 5)
      #expect(try bench.coffer("vault", "unlock", "--passphrase-fd", "0", input: "correct horse\n").status == 0)
      #expect(try bench.coffer("secret", "get", "mail/\(signal)").output == "\(signal)")
    }
    #expect(try bench.coffer("secret", "get", "mail/ada").output == "hunter2")
  }

  @Test func itSpeaksOfItselfAndIsNotEndedByItsUser() throws {
    #expect(try bench.coffer("vault", "status").status == 10)
    try initialize()
    let again = try bench.coffer("vault", "init", "--low-memory", "--passphrase-fd", "0", input: "other\n")
    #expect(again.status == 4 && again.errors.hasPrefix("coffer: the system's vault: there is a vault already\n"), "\(again)")
    #expect(try bench.coffer("vault", "status").lines.contains("agent\tsystem, unlocked"))
    #expect(try bench.coffer("agent", "status", "--system").lines == ["unlocked"])
    #expect(try bench.coffer("agent", "stop").status != 0)
    #expect(try bench.coffer("agent", "status").lines == ["unlocked"])
    // A verb that needs the vault's file fails, and does not use another vault instead.
    let refused = try bench.coffer("vault", "migrate")
    #expect(
      refused.status == 2 && refused.errors.hasPrefix("coffer: the system's vault: its agent converts no draft\n"), "\(refused)")
    #expect(try bench.coffer("vault", "status", "--system", "--vault", "x").status == 2)
    #expect(try bench.coffer("secret", "get", "x", "--no-agent").status == 2)
  }

  @Test func theWaysIntoTheVaultAreChangedByWhoProvesAnOldOne() throws {
    try initialize()
    func change(_ old: String, _ new: String, _ verb: String = "passphrase") throws -> Int32 {
      // Both by one descriptor would be one: the second comes from a file.
      _ = try bench.run("/bin/sh", ["-c", "umask 077; cat >\(bench.home.path)/new"], input: "\(new)\n")
      return try bench.run(
        "/bin/sh",
        ["-c", "exec coffer vault \(verb) --low-memory --passphrase-fd 0 --new-passphrase-fd 4 4<\(bench.home.path)/new"],
        input: "\(old)\n"
      ).status
    }
    #expect(try change("wrong", "new horse") == 7)
    #expect(try change("correct horse", "new horse") == 0)
    #expect(try bench.coffer("vault", "unlock", "--passphrase-fd", "0", input: "correct horse\n").status == 7)
    #expect(try bench.coffer("vault", "unlock", "--passphrase-fd", "0", input: "new horse\n").status == 0)
    // The agent is locked by then: to look for the slot opens nothing.
    #expect(try bench.coffer("vault", "lock").status == 0)
    // If there are two passphrases, the typed one is replaced, and its slot is not removed unasked.
    #expect(try change("new horse", "other horse", "slot add") == 0)
    #expect(try change("other horse", "second horse") == 0)
    #expect(try change("new horse", "first horse") == 0)
    #expect(try change("first horse", "new horse") == 0)
    #expect(try bench.coffer("vault", "slot", "remove", "2", "--passphrase-fd", "0", input: "second horse\n").status == 5)
    #expect(try bench.coffer("vault", "slot", "list").lines.count == 2)
    #expect(try bench.coffer("agent", "status").output.contains("locked"))
    #expect(try bench.coffer("vault", "slot", "remove", "2", "--passphrase-fd", "0", input: "new horse\n").status == 0)
    let recovery = try bench.coffer("vault", "slot", "add", "--new-recovery-key", "--passphrase-fd", "0", input: "new horse\n")
    #expect(recovery.status == 0)
    #expect(try bench.coffer("vault", "slot", "list").lines.count == 2)
    #expect(try bench.coffer("vault", "slot", "remove", "1", "--recovery-key-fd", "0", input: recovery.output).status == 0)
    #expect(try bench.coffer("vault", "unlock", "--passphrase-fd", "0", input: "new horse\n").status == 5)
    #expect(try bench.coffer("vault", "unlock", "--recovery-key-fd", "0", input: recovery.output).status == 0)
  }
}
