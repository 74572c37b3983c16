import AccessRights
import Coffer
import CofferStorage
import Foundation
import SystemBench
import Testing

/// `coffer access` with a real agent, and with programs that are not the owner's.
@Suite(.timeLimit(.minutes(60))) struct AccessTests {
  private let bench: DaemonBench
  /// A program that belongs to no app.
  private let program: String

  init() throws {
    bench = try DaemonBench()
    program = bench.directory.path + "/backup"
    try FileManager.default.copyItem(at: AgentBench.program("AgentProbe"), to: URL(filePath: program))
    try bench.unlock()
    #expect(try bench.coffer(["secret", "set", "mail/ada"], input: "hunter2").status == 0)
  }

  private func ask(_ program: String? = nil) throws -> String {
    let process = bench.command(program ?? self.program, ["once", bench.places.agentSocket])
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return text.trimmingCharacters(in: .newlines)
  }

  /// The numbers of what can be let in.
  private func refusals() throws -> [[String]] {
    try bench.coffer(["access", "allow"]).output.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
  }

  private func allow(_ number: String, _ arguments: String...) throws -> Int32 {
    try bench.coffer(["access", "allow", number, "default"] + arguments + ["--key-file", bench.directory.path + "/key"]).status
  }

  /// A vault that has nothing but a key file belongs to whoever has that.
  @Test func aRefusedProgramIsLetInByItsContent() throws {
    #expect(try ask() == "missingEntitlement")
    let refusal = try #require(try refusals().first)
    #expect(refusal[2].hasPrefix("program:") && refusal[2].count == "program:".count + 64)
    #expect(refusal[4] == "agent.items" && refusal[5] == program)
    #expect(try allow(refusal[0], "--list") == 0)
    #expect(try ask() == "done")
    let listed = try bench.coffer(["access", "list", "default"])
    #expect(listed.output.contains("default\t\t\(refusal[2])\tlist\tgranted "), "\(listed.output)")
    // The same content elsewhere is the same program, and another content at its path is none.
    let copy = bench.directory.path + "/copy"
    try FileManager.default.copyItem(atPath: program, toPath: copy)
    #expect(try ask(copy) == "done")
    let file = try FileHandle(forWritingTo: URL(filePath: copy))
    try file.seekToEnd()
    try file.write(contentsOf: Data("x".utf8))
    try file.close()
    #expect(try ask(copy) == "missingEntitlement")
    #expect(
      try bench.coffer(["app", "revoke", refusal[2], "default", "--key-file", bench.directory.path + "/key"]).status == 0)
    #expect(try ask() == "missingEntitlement")
  }

  @Test func aProgramThatHasChangedIsNotLetIn() throws {
    #expect(try ask() == "missingEntitlement")
    let number = try #require(try refusals().first?[0])
    let content = try Data(contentsOf: URL(filePath: program))
    try FileManager.default.removeItem(atPath: program)
    #expect(try allow(number) == 3)
    try (content + Data("x".utf8)).write(to: URL(filePath: program))
    #expect(try allow(number) == 9)
    #expect(try bench.coffer(["access", "list"]).output.contains("program:") == false)
    try content.write(to: URL(filePath: program))
    #expect(try allow(number) == 0)
  }

  /// The agent does not read what takes long to read, also if it is a hole.
  @Test func aProgramThatIsTooLargeIsNotLetIn() throws {
    let file = try FileHandle(forWritingTo: URL(filePath: program))
    try file.truncate(atOffset: (256 << 20) + 1)
    try file.close()
    #expect(try ask() == "missingEntitlement")
    #expect(try refusals().isEmpty)
  }

  /// Whose scripts it runs, nobody can tell from an interpreter's content.
  @Test func anInterpreterIsNotLetIn() throws {
    let python = bench.directory.path + "/python3"
    try FileManager.default.copyItem(atPath: program, toPath: python)
    #expect(try ask(python) == "missingEntitlement")
    #expect(try refusals().isEmpty)
    #expect(try allow("1") == 3)
  }

  /// A program that is not the owner's neither reads what was granted nor ends a lease, nor grants itself anything.
  @Test func aProgramThatIsNotTheOwnerSeesAndChangesNothing() throws {
    let keychain = try Keychain.connect(toAgentAt: bench.places.agentSocket)
    #expect(throws: KeychainError(.missingEntitlement)) { try keychain.appRecords.pins() }
    #expect(throws: KeychainError(.missingEntitlement)) { try keychain.grants(to: nil) }
    #expect(throws: KeychainError(.missingEntitlement)) { try keychain.leases() }
    #expect(throws: KeychainError(.missingEntitlement)) { try keychain.endLease(1) }
    #expect(throws: KeychainError(.notAllowed)) {
      try keychain.grant(.all, in: .standard, to: "coffer", asksForConfirmation: false)
    }
    #expect(throws: KeychainError(.notAllowed)) { try keychain.revoke(.standard, of: "coffer") }
  }

  /// No credential, no terminal: an error, at once, and nothing is granted.
  @Test func allowWithoutACredentialAsksNobody() throws {
    #expect(try ask() == "missingEntitlement")
    let number = try #require(try refusals().first?[0])
    #expect(try bench.coffer(["access", "allow", number, "default", "--no-input"]).status == 5)
    #expect(try ask() == "missingEntitlement")
  }

  @Test func withTheAgentUnlockedLookingTakesNoCredential() throws {
    for arguments in [["app", "list"], ["app", "show", "coffer"], ["access", "list"], ["access", "list", "mail/ada"]] {
      #expect(try bench.coffer(arguments + ["--no-input"]).status == 0, "\(arguments)")
    }
    #expect(try bench.coffer(["access", "revoke", "1"]).status == 3)
    #expect(try bench.coffer(["vault", "lock"]).status == 0)
    #expect(try bench.coffer(["app", "list", "--no-input"]).status == 5)
  }
}
