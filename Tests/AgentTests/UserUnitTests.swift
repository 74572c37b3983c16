import Foundation
import SystemBench
import Testing

private let areToolsThere = ["/usr/bin/systemd-analyze", "/usr/bin/strace"].allSatisfy {
  FileManager.default.isExecutableFile(atPath: $0)
}

/// The units of agents that run as the user they serve.
@Suite(.enabled(if: areToolsThere, "takes systemd-analyze and strace"), .timeLimit(.minutes(60))) struct UserUnitTests {
  private static func path(_ unit: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Packaging/systemd/\(unit)").standardized.path
  }

  static let units = ["user/cofferd.service", "system/cofferd-server@.service"]

  /// With each of these the service manager makes a mount, PID or user namespace. For a user's service manager that is a user namespace
  /// too, and from there `/proc/PID/exe` of programs outside can't be read: the agent would take every program for nobody.
  private static let namespaced = [
    "Private", "Protect", "ReadOnlyPaths", "ReadWritePaths", "InaccessiblePaths", "ExecPaths", "NoExecPaths", "BindPaths",
    "BindReadOnlyPaths", "TemporaryFileSystem", "RootDirectory", "RootImage", "MountImages", "ExtensionImages", "DynamicUser",
    "MountAPIVFS", "ProcSubset", "DeviceAllow", "DevicePolicy", "NetworkNamespacePath", "LogNamespace",
  ]

  @Test(arguments: units + ["user/coffer-ssh-agent.service", "user/coffer-secrets.service", "user/coffer-sync.service"])
  func noOptionTakesANamespace(unit: String) throws {
    for line in try UnitFilter(Self.path(unit)).lines where line.contains("=") && !line.hasPrefix("#") {
      #expect(!Self.namespaced.contains { line.hasPrefix($0) }, "\(line)")
    }
  }

  /// In tenths: 87 without the filter.
  @Test(arguments: zip(units, ["62", "32"])) func theExposureIsRated(unit: String, threshold: String) throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "coffer-units-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: home) }
    let file = home.appending(path: unit.split(separator: "/")[1].replacing("@", with: "@x"))
    let text = try String(contentsOfFile: Self.path(unit), encoding: .utf8)
    try text.replacing("@PREFIX@", with: "/usr").write(to: file, atomically: false, encoding: .utf8)
    let manager = unit.hasPrefix("user") ? "--user" : "--system"
    let rated = try UnitFilter.analyze(
      manager, "security", "--offline=true", "--threshold=\(threshold)", file.path,
      environment: ["XDG_RUNTIME_DIR": home.path, "HOME": home.path])
    #expect(rated.status == 0, "\(rated.output.suffix(300))")
    let bare = text.split(separator: "\n").filter { !$0.hasPrefix("SystemCall") }.joined(separator: "\n")
    try bare.replacing("@PREFIX@", with: "/usr").write(to: file, atomically: false, encoding: .utf8)
    #expect(
      try UnitFilter.analyze(
        manager, "security", "--offline=true", "--threshold=\(threshold)", file.path,
        environment: ["XDG_RUNTIME_DIR": home.path, "HOME": home.path]
      ).status != 0)
  }

  @Test(arguments: units) func theFilterAllowsTheAgentsSystemCalls(unit: String) throws {
    let allowed = try UnitFilter(Self.path(unit)).allowed()
    for call in ["ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "mount", "setuid", "bpf", "keyctl"] {
      #expect(!allowed.contains(call), "\(call)")
    }
    let trace = FileManager.default.temporaryDirectory.appending(path: "coffer-trace-\(UUID().uuidString.prefix(8))")
    defer { try? FileManager.default.removeItem(at: trace) }
    // The shell waits until it is traced, and becomes the agent. Where nothing may trace it, it ends, and the agent does not say "ready".
    let bench = try DaemonBench(
      limits: """
        strace -f -qq -o \(trace.path) -p $$ & n=0
        while grep -q '^TracerPid:.0$' /proc/$$/status; do n=$((n + 1)); [ $n -lt 20000 ] || exit 1; done
        """)
    try bench.unlock()
    #expect(try bench.coffer(["secret", "set", "mail/ada"], input: "hunter2").status == 0)
    #expect(try bench.coffer(["secret", "get", "mail/ada"]).output == "hunter2")
    #expect(try bench.coffer(["vault", "lock"]).status == 0)
    #expect(try bench.coffer(["agent", "stop"]).status == 0)
    _ = bench.waitForEnd()
    let called = try UnitFilter.called(in: trace, from: "/cofferd")
    #expect(called.contains("accept4") && called.contains("readlink"))
    // SQLite gives new files to the owner of the vault if it runs as root, and goes on if it may not; the units never run as root.
    let asRoot: Set<String> = geteuid() == 0 ? ["fchown"] : []
    #expect(called.subtracting(allowed).subtracting(asRoot) == [])
  }
}
