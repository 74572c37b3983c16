import Foundation
import SystemBench
import Testing
import Waiting

private let areToolsThere =
  SystemBench.isPossible
  && ["/usr/bin/systemd-analyze", "/usr/bin/systemd-socket-activate", "/usr/bin/strace"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: $0)
  }

/// The units that `make install` puts in place, as far as they can be tried where systemd does not run.
@Suite(.enabled(if: areToolsThere, "takes systemd's tools, and \(SystemBench.reason)")) struct SystemUnitTests {
  let bench: SystemBench
  private let service: String

  init() throws {
    bench = try SystemBench()
    let units = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Packaging/systemd/system")
      .standardized
    for kind in ["service", "socket"] {
      let text = try String(contentsOf: units.appending(path: "cofferd@.\(kind)"), encoding: .utf8)
      let installed = text.replacing("@PREFIX@", with: bench.directory.path)
      try installed.write(
        to: bench.directory.appending(path: "cofferd@\(bench.user).\(kind)"), atomically: false, encoding: .utf8)
    }
    service = bench.directory.appending(path: "cofferd@\(bench.user).service").path
  }

  private func analyze(_ arguments: String...) throws -> Child.Outcome {
    try bench.run("/usr/bin/systemd-analyze", arguments, as: 0)
  }

  @Test func theUnitsAreSoundAndCloseWhatTheyCan() throws {
    let socket = service.replacing(".service", with: ".socket")
    let verified = try analyze("verify", "--man=no", service, socket)
    #expect(verified.status == 0 && verified.errors == "", "\(verified)")
    // In tenths. The rest is due to the capability, the socket, and that it must see other users' processes.
    let rated = try analyze("security", "--offline=true", "--threshold=12", service)
    #expect(rated.status == 0, "\(rated.output)")
    let control = bench.directory.appending(path: "open@1.service")
    try "[Service]\nExecStart=/bin/true\n".write(to: control, atomically: false, encoding: .utf8)
    #expect(try analyze("security", "--offline=true", "--threshold=12", control.path).status != 0)
  }

  @Test func theFilterAllowsTheAgentsSystemCalls() throws {
    let allowed = try UnitFilter(service).allowed()
    // The other uses of CAP_SYS_PTRACE.
    for call in ["ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "mount", "setuid", "bpf"] {
      #expect(!allowed.contains(call), "\(call)")
    }
    bench.stop()
    let trace = bench.directory.appending(path: "trace")
    try bench.start(under: "strace -D -f -qq -o \(trace.path)")
    #expect(try bench.coffer("vault", "init", "--low-memory", "--passphrase-fd", "0", input: "correct horse\n").status == 0)
    #expect(try bench.coffer("secret", "set", "mail/ada", input: "hunter2").status == 0)
    #expect(try bench.coffer("secret", "get", "mail/ada").output == "hunter2")
    #expect(try bench.coffer("app", "list", "--passphrase-fd", "0", input: "correct horse\n").status == 0)
    #expect(try bench.coffer("vault", "lock").status == 0)
    bench.stop()
    let called = try UnitFilter.called(in: trace, from: "/cofferd")
    #expect(called.contains("accept4") && called.contains("readlink"))
    #expect(called.subtracting(allowed) == [])
  }

  @Test func aServiceManagerHandsTheSocketOver() throws {
    let path = bench.directory.appending(path: "activated.sock").path
    let state = bench.directory.appending(path: "other")
    unsafe mkdir(state.path, 0o700)
    unsafe chown(state.path, bench.agent, bench.agent)
    let activator = try bench.command(
      "/bin/sh", ["-c", "exec systemd-socket-activate -l \(path) \(bench.launch(in: state)) 2>/dev/null"], as: 0)
    defer { activator.end() }
    try wait(for: "systemd-socket-activate listens") { unsafe access(path, F_OK) == 0 }
    unsafe chown(path, bench.user, bench.user)
    let probe = bench.programs.appending(path: "AgentProbe").path
    // The vault was not unlocked yet; the agent still identifies the program.
    #expect(try bench.run(probe, ["once", path]).lines == ["locked"])
    #expect(FileManager.default.fileExists(atPath: state.path + "/state/audit"))
  }

  /// Without a socket, as root, or as the user itself it is no boundary, and does not begin.
  @Test func itDoesNotBeginWhereItKeepsNobodyOut() throws {
    bench.stop()
    let program = bench.programs.appending(path: "cofferd").path
    func refusal(_ user: UInt32, _ served: UInt32, _ more: String...) throws -> String {
      let outcome = try bench.run(
        program, ["--system", "--user", "\(served)", "--directory", bench.state.path] + more, as: user)
      return outcome.status == 1 ? outcome.errors : "began"
    }
    #expect(try refusal(0, bench.user).contains("must not run as root"))
    #expect(try refusal(bench.user, bench.user).contains("another user"))
    // Root's vault has an agent as well, under a user of its own.
    #expect(try refusal(bench.agent, 0).contains("no socket was handed over"))
    #expect(try refusal(bench.agent, bench.user).contains("no socket was handed over"))
    for (arguments, message) in [
      (["--system"], "--system: takes the user whom it serves: --user UID"), (["--user", "1"], "--user: takes --system"),
      (["--directory", "/x"], "--directory: takes --system"), (["--services", "/x"], "--services: takes --system"),
      (["--system", "--user", "1", "--services", "x"], "--services: is not absolute"),
      (["--system", "--user", "1", "--vault", "x"], "--vault: with --system the vault is in the directory"),
    ] {
      let outcome = try bench.run(program, arguments, as: bench.agent)
      #expect(outcome.status == 2 && outcome.errors == "cofferd: \(message)\nhint: cofferd --help\n", "\(arguments)")
    }
    // Variables that a parent has left speak of that parent's descriptors; what is no listening socket is refused.
    for (variables, message) in [
      ("LISTEN_PID=1 LISTEN_FDS=1", "no socket was handed over"), ("LISTEN_PID=$$ LISTEN_FDS=2", "LISTEN_FDS"),
      ("LISTEN_PID=$$ LISTEN_FDS=1 3</dev/null", "not a local socket"), ("LISTEN_PID=$$ LISTEN_FDS=1 3<&-", "is closed"),
    ] {
      let parts = variables.split(separator: " ")
      let redirection = parts.filter { $0.hasPrefix("3") }.joined()
      let exports = parts.filter { !$0.hasPrefix("3") }.joined(separator: " ")
      let outcome = try bench.run(
        "/bin/sh", ["-c", "export \(exports); exec \(bench.launch(in: bench.state)) \(redirection)"], as: 0)
      #expect(outcome.status == 1 && outcome.errors.contains(message), "\(variables): \(outcome.errors)")
    }
  }
}
