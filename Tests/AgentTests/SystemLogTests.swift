import Foundation
import SystemBench
import Testing

/// The log of an agent whose files its user cannot read.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason)), .timeLimit(.minutes(60)))
struct SystemLogTests {
  private let bench: SystemBench

  init() throws {
    bench = try SystemBench()
    try #require(try bench.coffer("vault", "init", "--low-memory", "--passphrase-fd", "0", input: "correct horse\n").status == 0)
    try #require(try bench.coffer("secret", "set", "mail/ada", input: "s3cret").status == 0)
  }

  private var coffer: String { bench.programs.appending(path: "coffer").path }

  @Test func theOwnerReadsAndChecksIt() throws {
    let log = try bench.coffer("app", "log")
    let rows = log.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    #expect(rows.contains { $0[2] == "agent.create" } && rows.contains { $0[2] == "agent.add" && $0[5] == "mail/ada" }, "\(log)")
    #expect(try bench.coffer("app", "log", "--json").lines.contains { $0.hasPrefix("{\"log\":\"system\"") })
    let doctor = try bench.coffer("doctor")
    let line = try #require(doctor.lines.first { $0.hasPrefix("audit log of the system's agent: ") }, "\(doctor)")
    #expect(doctor.status == 0 && line.contains(", whole, ends with "))
    let end = try #require(line.split(separator: " ").last).description
    #expect(try bench.coffer("doctor", "--system-end", end).status == 0)
    let other = end.replacing(":", with: ":00").split(separator: ",").map { $0 == "-" ? "-" : $0.prefix(66).description }
    #expect(try bench.coffer("doctor", "--system-end", other.joined(separator: ",")).status != 0)
    #expect(try bench.coffer("vault", "lock").status == 0)
    let locked = try bench.coffer("doctor", "--no-input")
    #expect(locked.status == 0 && !locked.output.contains("system") && locked.errors.contains("is locked"), "\(locked)")
    let proven = try bench.coffer("doctor", "--passphrase-fd", "0", input: "correct horse\n")
    #expect(try bench.coffer("vault", "lock").status == 0)
    let named = try bench.coffer("app", "log", "--passphrase-fd", "0", input: "correct horse\n")
    #expect(named.status == 0 && named.output.contains("\tmail/ada\t"), "\(named)")
    #expect(proven.status == 0 && proven.output.contains("audit log of the system's agent: "), "\(proven)")
  }

  /// A change in its files is reported to the user too, and to root, who reads them.
  @Test func rootReadsItsFiles() throws {
    let home = ["COFFER_HOME": bench.state.path]
    let log = try bench.run(coffer, ["app", "log"], as: 0, environment: home)
    #expect(log.status == 0 && log.output.contains("agent.add"), "\(log)")
    #expect(try bench.run(coffer, ["doctor"], as: 0, environment: home).status == 0)
    let file = bench.state.path + "/state/audit/uses/00000000000000000001.log"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let handle = try FileHandle(forWritingTo: URL(filePath: file))
    try handle.write(contentsOf: Data(text.replacing("agent.add", with: "agent.dad").utf8))
    try handle.close()
    #expect(try bench.run(coffer, ["doctor"], as: 0, environment: home).status == 9)
    #expect(try bench.coffer("doctor").status == 9)
  }

  /// From the agent's log, by its content.
  @Test func aRefusedProgramIsLetIn() throws {
    let program = bench.home.path + "/backup"
    _ = try bench.run(
      "/bin/sh", ["-c", "cp \(bench.programs.path)/AgentProbe \(program); chmod 755 \(program)"])
    #expect(try bench.run(program, ["once", bench.socket]).lines == ["missingEntitlement"])
    let refusals = try bench.coffer("access", "allow")
    let refusal = try #require(refusals.lines.first?.split(separator: "\t", omittingEmptySubsequences: false), "\(refusals)")
    #expect(refusal[2].hasPrefix("program:") && refusal[5] == program)
    let number = String(refusal[0])
    #expect(try bench.coffer("access", "allow", number, "default", "--no-input").status == 5)
    #expect(try bench.run(program, ["once", bench.socket]).lines == ["missingEntitlement"])
    let allowed = try bench.coffer("access", "allow", number, "default", "--passphrase-fd", "0", input: "correct horse\n")
    #expect(allowed.status == 0, "\(allowed)")
    #expect(try bench.run(program, ["once", bench.socket]).lines == ["done"])
    #expect(try bench.coffer("vault", "lock").status == 0)
    #expect(try bench.coffer("access", "allow", number, "default", "--passphrase-fd", "0", input: "correct horse\n").status == 5)
  }
}
