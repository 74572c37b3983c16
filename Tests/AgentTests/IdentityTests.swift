import AccessRights
import CLinux
import CofferRequests
import CofferTesting
import CofferWire
import Foundation
import SecretMemory
import Synchronization
import Testing
import VaultCore
import Waiting

@testable import CofferAgent

/// Identifies callers, among them processes that pose as another program.
@Suite struct IdentityTests {
  let bench: AgentBench
  let probe = AgentBench.program("AgentProbe")

  init() throws {
    bench = try AgentBench()
    try bench.unlock()
  }

  private func expect(_ found: [String], _ expected: [String], _ place: SourceLocation = #_sourceLocation) {
    #expect(found == expected, sourceLocation: place)
  }

  private func last() -> ProgramIdentity? { bench.decisions.last?.0.program }

  @Test func anAppIsWhatItsTeamHasSigned() throws {
    let app = try bench.install(probe, as: "com.example.app")
    expect(try bench.run(app, ["once", bench.socket]), ["done"])
    #expect(last() == .app(app.deletingLastPathComponent().deletingLastPathComponent().lastPathComponent))
  }

  /// One that was put in the place of what was installed may give more.
  @Test func theManifestOfAnotherVersionGivesNothing() throws {
    let app = try bench.install(probe, as: "com.example.app")
    try bench.pin(app, version: 2)
    expect(try bench.run(app, ["once", bench.socket]), ["appNotInstalled"])
    try bench.pin(app, version: nil)
    expect(try bench.run(app, ["once", bench.socket]), ["appNotInstalled"])
  }

  @Test func aGroupIsItsTeamsByItsBytes() throws {
    let team = String(repeating: "a", count: 32)
    for name in ["\(team).shared", "\(team).\u{301}x", "\(team)."] {
      #expect(Caller.team(of: try AccessGroup(name))?.text == team, "\(name)")
    }
    for name in [team, "\(team)x.shared", "default", "A\(team.dropFirst()).shared", ".\(team).x"] {
      #expect(Caller.team(of: try AccessGroup(name)) == nil, "\(name)")
    }
  }

  @Test func theCommandIsKnownByItsFile() throws {
    let command = bench.directory.appending(path: "command")
    try FileManager.default.copyItem(at: probe, to: command)
    expect(try bench.run(command, ["once", bench.socket]), ["done"])
    #expect(last() == .command)
    #expect(bench.decisions.last?.1 == .allow(.program))
  }

  /// `coffer-secrets` alone may name the process that it asks for.
  @Test func aProgramAsksInNoOtherName() throws {
    let command = bench.directory.appending(path: "command")
    try FileManager.default.copyItem(at: probe, to: command)
    expect(try bench.run(command, ["for", bench.socket]), ["missingEntitlement"])
    #expect(last() == .command)
    let service = bench.directory.appending(path: "coffer-secrets")
    try FileManager.default.copyItem(at: probe, to: service)
    expect(try bench.run(service, ["for", bench.socket]), ["done"])
    #expect(last() == .own(.secretService))
    #expect(bench.decisions.last?.0.client?.peer?.process == getpid())
    guard case .program? = bench.decisions.last?.0.client?.program else {
      Issue.record("\(String(describing: bench.decisions.last))")
      return
    }
  }

  /// Whatever else is in the vault, and whatever it asks for.
  @Test func theAgentForSSHReadsItsGroupAlone() throws {
    var vault = try Vault.throwAway()
    let item = Item(service: "s", account: "a")
    let other = try AccessGroup("other")
    var references: [Reference] = []
    for group in [AccessGroup.sshKeys, other] {
      try vault.transaction { try $0.createGroup(group, at: .test) }
      references.append(try vault.add(item, secret: Secret(testing: "x"), to: group, at: .test))
    }
    let service = try ItemService(.own(.sshAgent, in: vault), at: .test)
    func code(_ request: consuming ItemRequest) throws -> KeychainError.Code? {
      do {
        _ = try service.carryOut(request, in: &vault)
        return nil
      } catch {
        return KeychainError(error).code
      }
    }
    #expect(try code(.secret(references[0], purpose: "")) == nil)
    #expect(try code(.secret(references[1], purpose: "")) == .missingEntitlement)
    #expect(try code(.items(.genericPassword, other, Attributes())) == .missingEntitlement)
    #expect(try code(.remove(references[0])) == .missingEntitlement)
    guard case .entries(let entries) = try service.carryOut(.items(nil, nil, Attributes()), in: &vault) else {
      Issue.record("no list")
      return
    }
    #expect(entries.entries.map(\.reference) == [references[0]])
  }

  /// Without the owner the command may use groups that belong to no team, and groups that were granted to it.
  @Test func theCommandStaysOutOfGroupsOfTeams() throws {
    var vault = try Vault.throwAway()
    let (team, other) = (try AccessGroup("\(String(repeating: "a", count: 32)).shared"), try AccessGroup("other"))
    let item = Item(service: "s", account: "a")
    for group in [team, other] { try vault.transaction { try $0.createGroup(group, at: .test) } }
    let inTeam = try vault.add(item, secret: Secret(testing: "x"), to: team, at: .test)
    try vault.add(item, secret: Secret(testing: "y"), to: other, at: .test)
    func groups() throws -> [String] {
      guard
        case .entries(let entries) = try ItemService(.command(in: vault), at: .test).carryOut(
          .items(nil, nil, Attributes()), in: &vault)
      else { return [] }
      return entries.entries.map(\.reference.group.name)
    }
    func isRead() throws -> Bool {
      do {
        _ = try ItemService(.command(in: vault), at: .test).carryOut(.secret(inTeam, purpose: ""), in: &vault)
        return true
      } catch KeychainError.Code.missingEntitlement { return false }
    }
    #expect(try groups() == ["other"])
    #expect(try !isRead())
    try vault.transaction { try $0.put(Grant(to: Caller.commandName, team, [.read, .list], at: .test)) }
    #expect(try Set(groups()) == ["other", team.name])
    #expect(try isRead())
  }

  @Test(.enabled(if: geteuid() == 0, "only the superuser can act as another user")) func anotherUserIsNotLetIn() throws {
    for path in [bench.directory.path, bench.directory.path + "/run"] { #expect(unsafe chmod(path, 0o711) == 0) }
    #expect(unsafe chmod(bench.socket, 0o666) == 0)
    let client = """
      import os, socket
      kept = socket.socket(socket.AF_UNIX); kept.connect('\(bench.socket)')
      kept.settimeout(300)
      try: print('closed' if kept.recv(1) == b'' else 'answered')
      except TimeoutError: print('let in')
      except OSError: print('closed')
      """
    let options = ["--reuid", "54321", "--regid", "54321", "--clear-groups", "/usr/bin/python3", "-c", client]
    expect(try bench.run(URL(filePath: "/usr/bin/setpriv"), options), ["closed"])
    #expect(bench.decisions.isEmpty)
  }

  /// As on Linux 6.1.
  @Test func aKernelWithoutDescriptorsOfPeersKnowsThemToo() throws {
    let bench = try AgentBench(pinning: .byNumber)
    try bench.unlock()
    // Not identified until it is installed.
    expect(try bench.run(probe, ["once", bench.socket]), ["missingEntitlement"])
    let app = try bench.install(probe, as: "com.example.app")
    expect(try bench.run(app, ["once", bench.socket]), ["done"])
    // The connection of a process that has ended, in the hands of its child.
    expect(try bench.run(app, ["leave", bench.socket] + PythonClient.write(in: bench.directory) + ["0.5"]), ["closed"])
  }

  @Test func aProgramThatIsNotInstalledIsUnknown() throws {
    let copy = bench.directory.appending(path: "copy")
    try FileManager.default.copyItem(at: probe, to: copy)
    expect(try bench.run(copy, ["once", bench.socket]), ["missingEntitlement"])
    guard case .program(copy.path, _)? = last() else {
      Issue.record("\(String(describing: last()))")
      return
    }
  }

  @Test func aCopyIsTheSameProgramUnlessSeveralAppsHaveIt() throws {
    let app = try bench.install(probe, as: "com.example.app")
    let copy = bench.directory.appending(path: "copy")
    try FileManager.default.copyItem(at: probe, to: copy)
    expect(try bench.run(copy, ["once", bench.socket]), ["done"])
    let other = try bench.install(probe, as: "com.example.app", seed: 2)
    expect(try bench.run(copy, ["once", bench.socket]), ["missingEntitlement"])
    // In its own directory each is itself.
    for program in [app, other] {
      expect(try bench.run(program, ["once", bench.socket]), ["done"])
      #expect(last() == .app(program.deletingLastPathComponent().deletingLastPathComponent().lastPathComponent))
    }
  }

  @Test func anExecutableThatIsNotTheSignedOneIsNobody() throws {
    let app = try bench.install(probe, as: "com.example.app")
    #expect(unsafe chmod(app.path, 0o700) == 0)
    let handle = try FileHandle(forWritingTo: app)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data([0]))
    try handle.close()
    expect(try bench.run(app, ["once", bench.socket]), ["missingEntitlement"])
  }

  @Test func aProgramThatIsReplacedWhileItRunsStaysWhatItIs() throws {
    let app = try bench.install(probe, as: "com.example.app")
    // Between its two questions another file takes the place of its own.
    let directory = app.deletingLastPathComponent()
    #expect(unsafe chmod(directory.path, 0o700) == 0)
    let replace = "cp /bin/true \(directory.path)/new && mv -f \(directory.path)/new \(app.path)"
    expect(try bench.run(app, ["twice", bench.socket, "/bin/sh", "-c", replace]), ["done", "done"])
    expect(try bench.run(URL(filePath: "/bin/cmp"), [app.path, "/bin/true"]), [])
    // The file at the path is no longer the signed one.
    expect(try bench.run(app, ["once", bench.socket]), [])
  }

  /// An upgrade puts new files in place while the former programs run.
  @Test func aProgramOfCofferIsReplacedWhileItRuns() throws {
    let service = bench.directory.appending(path: "coffer-secrets")
    try FileManager.default.copyItem(at: probe, to: service)
    let replace = "cp \(service.path) \(service.path).new && mv -f \(service.path).new \(service.path)"
    _ = try bench.run(service, ["twice", bench.socket, "/bin/sh", "-c", replace])
    let former = bench.decisions.map(\.0.program)
    #expect(former.count == 2 && former.allSatisfy { $0 == .own(.secretService) }, "\(former)")
    // One that was never seen at its place is none.
    let moved = bench.directory.appending(path: "moved")
    try FileManager.default.moveItem(at: service, to: moved)
    _ = try bench.run(moved, ["once", bench.socket])
    #expect(last() != .own(.secretService))
  }

  @Test func afterExecTheNewProgramCounts() throws {
    let app = try bench.install(probe, as: "com.example.app")
    let client = try PythonClient.write(in: bench.directory)
    expect(try bench.run(app, ["exec", bench.socket] + client), ["done", "failed missingEntitlement"])
    guard case .interpreter? = last() else {
      Issue.record("\(String(describing: last()))")
      return
    }
  }

  /// Asks, becomes the app, and leaves the answers to a child that has the same connection.
  @Test func aRequestFromBeforeExecIsNotTheNewPrograms() throws {
    let isTheApp = Atomic(false)
    // The agent does not come to the later requests before.
    let bench = try AgentBench(identifying: { try wait(for: "it is the app") { isTheApp.load(ordering: .acquiring) } })
    try bench.unlock()
    let app = try bench.install(probe, as: "com.example.app")
    let asking = """
      import os, socket, struct
      kept = socket.socket(socket.AF_UNIX); kept.connect('\(bench.socket)')
      if os.fork() == 0:
          while len(head := kept.recv(16, socket.MSG_WAITALL)) == 16:
              count, version, operation, request = struct.unpack('<IHHQ', head)
              kept.recv(count, socket.MSG_WAITALL)
              print(request, operation, flush=True)
          os._exit(0)
      def frame(operation, request, body): return struct.pack('<IHHQ', len(body), 1, operation, request) + body
      items = struct.pack('<IHI', 0, 1, 0)
      kept.sendall(frame(1, 1, bytes(6)) + frame(5, 2, items) + frame(5, 3, items))
      os.execv('\(app.path)', ['app', 'await', '\(bench.socket)'])
      """
    let output = try bench.run(URL(filePath: "/usr/bin/python3"), ["-c", asking], afterLines: 1) {
      isTheApp.store(true, ordering: .releasing)
    }
    // The third request is not the response to the challenge that the second one got.
    expect(output, ["here", "1 128", "2 132", "2 130"])
    // It is not refused when it asks itself.
    expect(try bench.run(app, ["once", bench.socket]), ["done"])
  }

  /// The root user of a PID namespace can send in the name of any process in it.
  @Test func aProgramInAContainerIsNobody() throws {
    let app = try bench.install(probe, as: "com.example.app")
    let options = ["--user", "--map-root-user", "--pid", "--fork", app.path, "once", bench.socket]
    expect(try bench.run(URL(filePath: "/usr/bin/unshare"), options), ["missingEntitlement"])
    #expect(last() == .unknown("it is in a container: its requests could be anybody's there"))
  }

  @Test func aWatcherIsIdentifiedForEachNotice() throws {
    let app = try bench.install(probe, as: "com.example.app")
    func tell() { bench.vault.lock() }
    expect(try bench.run(app, ["watch", bench.socket], afterLines: 1, then: tell), ["notices", "notices"])
    // A program that has ended meanwhile is nobody.
    let allowed = bench.decisions.count {
      $0.0.operation == .watch && $0.1 == .allow(.program) && $0.0.program == .app(app.pathComponents.dropLast(2).last ?? "")
    }
    #expect(allowed == 1, "what is as it was is not logged again")
    try bench.unlock()
    // A program without rights may not watch either.
    let other = bench.directory.appending(path: "other")
    try (Data(contentsOf: probe) + [0]).write(to: other)
    #expect(unsafe chmod(other.path, 0o700) == 0)
    expect(try bench.run(other, ["watch", bench.socket]), ["missingEntitlement", "closed"])
    let words = ["/usr/bin/python3", "-c", PythonWatcher.script]
    expect(
      try bench.run(app, ["watch", bench.socket] + words, afterLines: 2, then: tell),
      ["notices", "here", "failed missingEntitlement", "closed"])
    guard case .interpreter? = last() else {
      Issue.record("\(String(describing: last()))")
      return
    }
  }

  /// A watcher that connected before the first unlock is notified of it.
  @Test func aProgramMayWatchBeforeTheFirstUnlock() throws {
    let bench = try AgentBench()
    let app = try bench.install(probe, as: "com.example.app")
    expect(try bench.run(app, ["watch", bench.socket], afterLines: 1) { try bench.unlock() }, ["notices", "notices"])
  }

  @Test func aConnectionThatIsHandedOnIsClosed() throws {
    let app = try bench.install(probe, as: "com.example.app")
    let client = try PythonClient.write(in: bench.directory)
    expect(try bench.run(app, ["spawn", bench.socket] + client), ["done", "closed"])
  }

  @Test func anEndedProcessIsUnknown() throws {
    let app = try bench.install(probe, as: "com.example.app")
    let client = try PythonClient.write(in: bench.directory)
    expect(try bench.run(app, ["leave", bench.socket] + client + ["0.5"]), ["closed"])
  }

  @Test func aScriptIsItsInterpreter() throws {
    let connect = """
      import os, socket
      kept = socket.socket(socket.AF_UNIX); kept.connect('\(bench.socket)'); os.dup2(kept.fileno(), 3)
      exec(open('\(try PythonClient.write(in: bench.directory)[1])').read())
      """
    expect(try bench.run(URL(filePath: "/usr/bin/python3"), ["-c", connect]), ["failed missingEntitlement"])
    guard case .interpreter? = last() else {
      Issue.record("\(String(describing: last()))")
      return
    }
  }

  /// A file with holes can be as long as somebody likes, and to read it takes days.
  @Test func aProgramOfAnotherLengthIsNotRead() throws {
    _ = try bench.install(probe, as: "com.example.app")
    let long = bench.directory.appending(path: "long")
    try FileManager.default.copyItem(at: probe, to: long)
    try #require(unsafe truncate(long.path, 1 << 43) == 0)
    expect(try bench.run(long, ["once", bench.socket]), ["missingEntitlement"])
  }

  @Test func aFileIsReadForAsLongAsItIsWanted() throws {
    let file = unsafe open("/proc/self/exe", O_RDONLY)
    defer { close(file) }
    var status = stat()
    #expect(unsafe fstat(file, &status) == 0)
    var count = 0
    func isWanted() -> Bool {
      count += 1
      return count < 3
    }
    #expect(ProgramDigests().digest(of: file, status, while: isWanted) == nil)
    #expect(count == 3)
    #expect(ProgramDigests().digest(of: file, status, while: { true })?.count == 32)
  }

  /// Not defended, and pinned: code that is injected into an app has the app's content.
  @Test func injectedCodeIsTheAppItself() throws {
    let app = try bench.install(probe, as: "com.example.app")
    // Part of every Debian, and of no program here.
    let folder = try #require(try FileManager.default.contentsOfDirectory(atPath: "/lib").first { $0.hasSuffix("-linux-gnu") })
    let name = "libanl.so.1"
    // Proves that the process that got the answer has the library in its memory.
    let words = ["spawn", bench.socket, "/bin/sh", "-c", "grep -o -m1 \(name) /proc/$PPID/maps"]
    expect(try bench.run(app, words, environment: ["LD_PRELOAD": "/lib/\(folder)/\(name)"]), ["done", name])
    expect(try bench.run(app, words), ["done"])
  }
}
