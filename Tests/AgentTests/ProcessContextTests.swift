import CLinux
import CofferRequests
import Foundation
import Testing

@testable import CofferAgent

/// Services of the system and applications of Flatpak: what the kernel's texts say, and real processes.
@Suite(.timeLimit(.minutes(60))) struct ProcessContextTests {
  @Test(arguments: [
    ("0::/system.slice/backup.service\n", "backup.service"),
    ("0::/system.slice/system-web.slice/web@1.service\n", "web@1.service"),
    ("0::/backup.slice/nightly.service\n", "nightly.service"),
    ("12:cpu:/elsewhere\n1:name=systemd:/system.slice/a.service\n0::/\n", "a.service"),
    ("1:name=systemd:/\n0::/system.slice/a.service\n", nil),
    // A user's services, which any of the user's programs can make.
    ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n", nil),
    ("0::/user.slice/user-1000.slice/user@1000.service\n", nil),
    // Control groups below a service, and machines.
    ("0::/system.slice/a.service/payload\n", nil),
    ("0::/system.slice/a.service/b.service\n", nil),
    ("0::/machine.slice/systemd-nspawn@x.service\n", nil),
    ("0::/system.slice/docker-0a.scope\n", nil),
    ("0::/a.service\n", nil), ("0::/\n", nil), ("", nil), ("0::\n", nil), ("0::a.slice/b.service\n", nil),
    ("0::/system.slice/.service\n", nil), ("0::/system.slice/a b.service\n", nil), ("0::/system.slice//a.service\n", nil),
    ("0::/../system.slice/a.service\n", nil), ("3:cpu:/system.slice/a.service\n", nil),
    // A name may have colons.
    ("0::/system.slice/a:b.service\n", "a:b.service"),
  ]) func aServiceIsTheSystems(_ text: String, _ name: String?) {
    #expect(ProcessContext.unit(inControlGroups: text) == name)
  }

  @Test(arguments: [
    ("[Application]\nname=org.example.App\nruntime=x\n", "org.example.App"),
    ("[Instance]\nname=org.example.Other\n\n[Application]\nname=org.example.App\n", "org.example.App"),
    ("[Instance]\nname=org.example.App\n", nil), ("name=org.example.App\n", nil), ("[Runtime]\nname=org.x.Y\n", nil),
    ("[Application]\nname=App\n", nil), ("[Application]\nname=org..App\n", nil), ("[Application]\nname=org.a b\n", nil),
    ("[Application]\nname=\n", nil), ("", nil),
  ]) func anApplicationIsWhatFlatpakHasWritten(_ text: String, _ identifier: String?) {
    #expect(ProcessContext.flatpak(inInformation: text) == identifier)
  }

  @Test func namesThatCanBeGrantedSomething() throws {
    #expect(try GrantedProgram(named: "coffer") == .command)
    #expect(try GrantedProgram(named: "unit:a@b.service") == .unit("a@b.service"))
    #expect(try GrantedProgram(named: "flatpak:org.example.App") == .flatpak("org.example.App"))
    for name in ["com.example.app", "TEAM.com.example.app", "", "Coffer"] { #expect(try GrantedProgram(named: name) == nil) }
    let long = String(repeating: "a", count: 260)
    for name in [
      "unit:", "unit:a", "unit:a.socket", "unit:.service", "unit:a/b.service", "unit:\(long).service", "flatpak:", "flatpak:App",
      "flatpak:org.example.\(long)", "flatpak:.a",
    ] {
      #expect(throws: GrantedProgram.Malformed.self) { try GrantedProgram(named: name) }
    }
    for program: GrantedProgram in [.command, .unit("a.service"), .flatpak("a.b")] {
      #expect(try GrantedProgram(named: program.name) == program)
    }
  }

  // MARK: Processes

  private func identity(_ bench: AgentBench) -> ProgramIdentity? { bench.decisions.last?.0.program }

  private func connecting(_ bench: AgentBench) throws -> String {
    """
    import os, socket
    kept = socket.socket(socket.AF_UNIX); kept.connect('\(bench.socket)'); os.dup2(kept.fileno(), 3)
    exec(open('\(try PythonClient.write(in: bench.directory)[1])').read())
    """
  }

  /// Control groups of services are root's to make: who runs the tests as another user has shown above how their names are read.
  private static let groups = ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup"].first {
    unsafe access("\($0)/cgroup.procs", W_OK) == 0
  }

  @Test(.enabled(if: Self.groups != nil, "only root makes services of the system")) func aProcessOfAServiceIsTheService() throws {
    let bench = try AgentBench()
    try bench.unlock()
    let slice = "\(Self.groups!)/coffer-test-\(UUID().uuidString.prefix(8).lowercased()).slice"
    let service = "\(slice)/backup.service"
    try FileManager.default.createDirectory(atPath: service, withIntermediateDirectories: true)
    defer { for path in [service, slice] { unsafe rmdir(path) } }
    let found = try bench.run(
      URL(filePath: "/bin/sh"),
      ["-c", "echo $$ >\(service)/cgroup.procs && exec /usr/bin/python3 -c \"$1\"", "sh", connecting(bench)])
    #expect(found == ["failed missingEntitlement"])
    #expect(identity(bench) == .unit("backup.service"))
    #expect(
      bench.decisions.map(\.1).first
        == .refuse(code: .missingEntitlement, rule: "nothing was granted to unit:backup.service"))
  }

  /// Not defended, and pinned: any program of the user can make such a sandbox.
  @Test func aProcessInASandboxIsWhatTheSandboxSays() throws {
    let bench = try AgentBench()
    try bench.unlock()
    let information = bench.directory.appending(path: "info")
    try "[Application]\nname=org.example.App\n".write(to: information, atomically: false, encoding: .utf8)
    let roots = ["lib", "lib64", "bin"].flatMap { ["--symlink", "usr/\($0)", "/\($0)"] }
    let found = try bench.run(
      URL(filePath: "/usr/bin/bwrap"),
      ["--unshare-pid", "--ro-bind", "/usr", "/usr"] + roots + [
        "--proc", "/proc", "--dev", "/dev", "--bind", bench.directory.path, bench.directory.path, "--ro-bind", information.path,
        "/.flatpak-info", "/usr/bin/python3", "-c", connecting(bench),
      ])
    #expect(found == ["failed missingEntitlement"])
    #expect(identity(bench) == .flatpak("org.example.App"))
  }

  /// The file belongs to another user and must not block the agent.
  @Test func onlyARegularFileNamesTheSandbox() throws {
    let bench = try AgentBench()
    try bench.unlock()
    let pipe = bench.directory.appending(path: "info").path
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let roots = ["lib", "lib64", "bin"].flatMap { ["--symlink", "usr/\($0)", "/\($0)"] }
    let found = try bench.run(
      URL(filePath: "/usr/bin/bwrap"),
      ["--unshare-pid", "--ro-bind", "/usr", "/usr"] + roots + [
        "--proc", "/proc", "--dev", "/dev", "--bind", bench.directory.path, bench.directory.path, "--bind", pipe,
        "/.flatpak-info",
        "/usr/bin/python3", "-c", connecting(bench),
      ])
    #expect(found == ["failed missingEntitlement"])
    guard case .unknown(let why)? = identity(bench), why.contains("container") else {
      Issue.record("\(String(describing: identity(bench)))")
      return
    }
  }
}
