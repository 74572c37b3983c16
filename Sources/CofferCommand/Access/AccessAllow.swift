import AccessRights
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
      program, group, operation, file. A program that is not an app is let in by its content, unless its file has changed since. Grants \
      the right that was missing unless others are named, after asking, at a terminal, unless --force or --no-input is given. \
      coffer app revoke takes it back.
      """)

  @Argument(help: "The number of a refusal.")
  var number: UInt64?

  @Argument(help: "The group, if not the one that the refusal names.")
  var group: String?

  @OptionGroup var options: GrantOptions

  @Flag(help: "Do not ask now.")
  var force = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let owned = try vault.ownedVault()
    let log = try owned.agentLog(keepsCredential: number != nil)
    let refusals = try Refusals(log.map(\.history) ?? AuditPlace.history())
    guard let number else { return try refusals.print(asJSON: json) }
    let refusal = try refusals.refusal(number)
    let (group, rights) = (try group(of: refusal), try rights(for: refusal))
    var audit = try AppAudit(.grant)
    (audit.group, audit.application) = (group.name, refusal.program)
    try audit.deciding { try refusal.checkIsUnchanged() }
    let request = GrantRequest(
      verb: "allow", group: group, rights: rights, asksForConfirmation: options.confirm,
      groupHint: "name one of these: coffer access allow \(number) GROUP")
    let grant = try request.grant(owned, audit) { opened in
      if try GrantedProgram(namedOnCommandLine: refusal.program) == nil {
        _ = try about(refusal.program) { try AppPlace.apps().pin(named: refusal.program, in: opened) }
      }
      return refusal.program
    } agree: {
      try ask(refusal, group, rights)
      // An answer takes a while.
      try refusal.checkIsUnchanged()
    }
    try Descriptor.output.write(
      json ? grant.json.description + "\n" : "\(grant.application)\t\(grant.group.name)\t\(grant.rights.names)\n")
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
    let rights = options.rights.isEmpty ? refusal.missing : options.rights
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
