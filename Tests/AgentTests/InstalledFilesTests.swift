import CofferStorage
import Foundation
import Testing

private let isMakeThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/make")

/// Checks that the files of `make install`, with the programs that were built beside the tests, are consistent.
@Suite(.enabled(if: isMakeThere, "takes make")) struct InstalledFilesTests {
  /// A directory with the files of `make install`.
  private final class Stage {
    let root = FileManager.default.temporaryDirectory.appending(path: "coffer-install-\(UUID().uuidString.prefix(8))")
    deinit { try? FileManager.default.removeItem(at: root) }
  }

  private static let prefix = "/opt/coffer"
  private let stage = Stage()

  private static let programs = AgentBench.program("coffer").deletingLastPathComponent().path

  init() throws {
    try make("\(Self.programs)/pam_coffer.so")
    try make("install")
  }

  /// `all`, which would build them anew, is taken for done.
  private func make(_ target: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/make")
    process.currentDirectoryURL = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
    process.arguments = [
      "-s", "-o", "all", target, "DESTDIR=\(stage.root.path)", "PREFIX=\(Self.prefix)",
      "PROGRAMS=\(Self.programs)",
    ]
    process.environment = ["PATH": "/usr/bin:/bin"]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: stage.root.appending(path: path), encoding: .utf8)
  }

  private func units() throws -> [String] {
    let lib = "\(Self.prefix)/lib/systemd"
    return try ["user", "system"].flatMap { kind in
      try FileManager.default.contentsOfDirectory(atPath: stage.root.appending(path: "\(lib)/\(kind)").path).map {
        "\(lib)/\(kind)/\($0)"
      }
    }
  }

  /// The values of a setting.
  private func values(_ setting: String, in unit: String) throws -> [String] {
    try text(unit).split(separator: "\n").filter { $0.hasPrefix("\(setting)=") }.map { String($0.dropFirst(setting.count + 1)) }
  }

  @Test func unitsNameWhatIsInstalled() throws {
    let units = try units()
    #expect(
      Set(units.map { $0.split(separator: "/").suffix(2).joined(separator: "/") }) == [
        "user/cofferd.service", "user/cofferd.socket", "user/coffer-backup.service", "user/coffer-backup.timer",
        "user/coffer-ssh-agent.service", "user/coffer-ssh-agent.socket", "user/coffer-secrets.service",
        "user/coffer-sync.service",
        "system/cofferd@.service", "system/cofferd@.socket",
        "system/cofferd-server@.service", "system/coffer-credentials.socket",
        "system/coffer-backup@.service", "system/coffer-backup@.timer",
      ])
    for unit in units {
      #expect(try !text(unit).contains("@PREFIX@"), "\(unit)")
      for page in try values("Documentation", in: unit) {
        let name = page.dropFirst("man:".count).dropLast("(1)".count)
        #expect(FileManager.default.fileExists(atPath: stage.root.path + "\(Self.prefix)/share/man/man1/\(name).1"), "\(page)")
      }
      for other in try values("Requires", in: unit) {
        let path = unit.split(separator: "/").dropLast().joined(separator: "/") + "/" + other.replacing("@%i", with: "@")
        #expect(units.contains("/" + path), "\(unit): \(other)")
      }
      guard unit.hasSuffix(".service") else { continue }
      let program = try #require(try values("ExecStart", in: unit).first?.split(separator: " ").first)
      let expected =
        switch unit.split(separator: "/").last {
        case "coffer-backup.service", "coffer-backup@.service": "bin/coffer"
        case "coffer-ssh-agent.service": "libexec/coffer/coffer-ssh-agent"
        case "coffer-secrets.service": "libexec/coffer/coffer-secrets"
        case "coffer-sync.service": "libexec/coffer/coffer-sync"
        default: "bin/cofferd"
        }
      #expect(program == "\(Self.prefix)/\(expected)")
      #expect(FileManager.default.isExecutableFile(atPath: stage.root.path + program), "\(program)")
    }
    // The program that cofferd looks for beside itself.
    #expect(FileManager.default.isExecutableFile(atPath: stage.root.path + "\(Self.prefix)/bin/../libexec/coffer/coffer-logind"))
  }

  /// Where clients look for the agent, the service manager listens.
  @Test func theSocketsAreWhereTheyAreLookedFor() throws {
    let user = try values("ListenStream", in: "\(Self.prefix)/lib/systemd/user/cofferd.socket")
    let places = try Places { ["HOME": "/home/ada", "XDG_RUNTIME_DIR": "/run/user/1000"][$0] }
    #expect(user.map { $0.replacing("%t", with: "/run/user/1000") } == [places.agentSocket])
    let ssh = try values("ListenStream", in: "\(Self.prefix)/lib/systemd/user/coffer-ssh-agent.socket")
    #expect(ssh.map { $0.replacing("%t", with: "/run/user/1000") } == [places.sshAgentSocket])
    let system = try values("ListenStream", in: "\(Self.prefix)/lib/systemd/system/cofferd@.socket")
    #expect(system.map { $0.replacing("%i", with: "1000") } == [Places.systemSocket(of: 1000)])
  }

  /// An agent that cannot start ends with a code, and whoever connects later finds one that can: neither does what waits start it over and
  /// over, nor does a limit close the socket.
  @Test func aSocketThatWasOpenedTooEarlyStaysOpen() throws {
    let (socket, service) = ("\(Self.prefix)/lib/systemd/user/cofferd.socket", "\(Self.prefix)/lib/systemd/user/cofferd.service")
    #expect(try values("FlushPending", in: socket) == ["yes"])
    #expect(try values("TriggerLimitIntervalSec", in: socket) == ["0"])
    #expect(try values("StartLimitIntervalSec", in: service) == ["0"])
    #expect(try values("Restart", in: service) == ["no"])
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"), "takes systemd's tools"))
  func theUsersUnitsAreSound() throws {
    func verify(_ change: (String) -> String) throws -> (status: Int32, errors: String) {
      let folder = stage.root.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let names = [
        "cofferd.service", "cofferd.socket", "coffer-backup.service", "coffer-backup.timer", "coffer-ssh-agent.service",
        "coffer-ssh-agent.socket", "coffer-secrets.service", "coffer-sync.service",
      ]
      let paths = try names.map { name in
        let path = folder.appending(path: name)
        let unit = try text("\(Self.prefix)/lib/systemd/user/\(name)")
        try change(unit.replacing(Self.prefix, with: stage.root.path + Self.prefix)).write(
          to: path, atomically: false, encoding: .utf8)
        return path.path
      }
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/systemd-analyze")
      process.arguments = ["--user", "verify", "--man=no"] + paths
      process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
      let errors = Pipe()
      process.standardError = errors
      try process.run()
      let found = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      return (process.terminationStatus, found)
    }
    let verified = try verify { $0 }
    #expect(verified.status == 0 && !verified.errors.contains("coffer"), "\(verified)")
    // Settings that it does not know it names.
    #expect(try verify { $0.replacing("FlushPending", with: "FlushPendingX") }.errors.contains("cofferd.socket"))
    #expect(try verify { $0.replacing("OnCalendar=daily", with: "OnCalendar=dayly") }.errors.contains("coffer-backup.timer"))
  }

  @Test func installedFilesAreRemovedAgain() throws {
    func files() -> [String] {
      let all = FileManager.default.enumerator(at: stage.root, includingPropertiesForKeys: [.isDirectoryKey])
      return (all?.compactMap { $0 as? URL } ?? []).filter { !$0.hasDirectoryPath }.map(\.path)
    }
    #expect(files().count > 12)
    try make("uninstall")
    #expect(files() == [])
  }
}
