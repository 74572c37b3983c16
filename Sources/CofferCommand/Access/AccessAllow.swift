import ArgumentParser
import Coffer
import CofferApps
import CofferAudit
import CofferConsole
import CofferRequests
import VaultCore

struct AccessAllow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "allow", abstract: "Let a program that was refused into a group.",
    discussion: """
      By the number of its refusal in the audit log; without one the refusals are listed that a grant would have changed: number, time, \
      program, group, operation, file. A program that is no app is let in by its content, and not if its file has changed since. Grants \
      the right that was missing unless others are named, after asking, at a terminal, unless --force or --no-input is given. \
      coffer app revoke takes it back.
      """)

  @Argument(help: "The number of a refusal.")
  var number: UInt64?

  @Argument(help: "The group, if not the one that the refusal names.")
  var group: String?

  @Flag(help: "It may read secrets.")
  var read = false

  @Flag(help: "It may add, change and remove items.")
  var write = false

  @Flag(help: "It may see which items there are.")
  var list = false

  @Flag(help: "Ask each time.")
  var confirm = false

  @Flag(help: "Do not ask now.")
  var force = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let agent = try number == nil ? vault.askableSystemAgent() : unlockedSystemAgent()
    let (own, system) = try AuditPlace.histories(agent)
    let refusals = try Refusals(vault.systemAgent() == nil ? own : system)
    guard let number else { return try refusals.print(asJSON: json) }
    let refusal = try refusals.refusal(number)
    let (group, rights) = (try group(of: refusal), try rights(for: refusal))
    var audit = try AppAudit(.grant)
    (audit.group, audit.application) = (group.name, refusal.program)
    try audit.deciding { try refusal.checkIsUnchanged() }
    var opened = try vault.openApps()
    try audit.deciding {
      try opened.checkIsOwner("allow", "lets them in")
      try opened.checkExists(group, hint: "name one of these: coffer access allow \(number) GROUP")
      if try GrantedProgram(namedOnCommandLine: refusal.program) == nil {
        _ = try about(refusal.program) { try AppPlace.apps().pin(named: refusal.program, in: opened) }
      }
      try ask(refusal, group, rights)
      // An answer takes a while.
      try refusal.checkIsUnchanged()
    }
    let grant = Grant(to: refusal.program, group, rights, asksForConfirmation: confirm, at: .now())
    try about(refusal.program) { try audit.doing { try opened.put(grant) } }
    opened.finish()
    try Descriptor.output.write(
      json ? grant.json.description + "\n" : "\(grant.application)\t\(grant.group.name)\t\(grant.rights.names)\n")
  }

  /// The credential that is named proves the owner when everything else has been looked at, and can be read once.
  private func unlockedSystemAgent() throws -> Keychain? {
    guard let agent = try vault.systemAgent() else { return nil }
    guard try agent.agentState() == .unlocked else {
      throw Failure(.locked, "\(VaultOptions.systemVault): is locked", hint: "coffer vault unlock")
    }
    return agent
  }

  private func group(of refusal: Refusal) throws -> AccessGroup {
    if let group { return try about(group) { try AccessGroup(group) } }
    guard let group = refusal.group else {
      throw Failure.usage(
        "\(refusal.number): the program named no group", hint: "name one: coffer access allow \(refusal.number) GROUP")
    }
    return group
  }

  private func rights(for refusal: Refusal) throws -> Entitlements.Rights {
    var rights: Entitlements.Rights = []
    if read { rights.insert(.read) }
    if write { rights.insert(.write) }
    if list { rights.insert(.list) }
    if rights.isEmpty { rights = refusal.missing }
    guard !rights.isEmpty else {
      throw Failure.usage(
        "\(refusal.number): \(refusal.entry.operation) takes no one right", hint: "--read, --write, --list, or several")
    }
    return rights
  }

  private func ask(_ refusal: Refusal, _ group: AccessGroup, _ rights: Entitlements.Rights) throws {
    guard !force, !vault.noInput, Descriptor.input.isTerminal else { return }
    let question = "Let \(refusal.text) into \(group.name): \(rights.names)? [y/N] "
    guard try Question.isYes(question.escapingControls()) else { throw Failure.cancelled }
  }
}
