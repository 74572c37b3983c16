import AccessRights
import ArgumentParser
import CofferApps
import CofferConsole
import CofferRequests
import VaultCore

struct AppGrant: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Let an app into a group that its manifest does not give it.",
    discussion: "Replaces what was granted to the app in this group before.")

  @Argument(
    help: "TEAM.identifier, or the identifier alone; or coffer, unit:NAME.service, flatpak:ID.", completion: OfferedNames.apps)
  var app: String

  @Argument(help: "The group.", completion: OfferedNames.groups)
  var group: String

  @OptionGroup var options: GrantOptions

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard !options.rights.isEmpty else {
      throw Failure.usage("grant: nothing is granted", hint: "--read, --write, --list, or several")
    }
    let group = try about(self.group) { try AccessGroup(self.group) }
    var audit = try AppAudit(.grant)
    audit.group = group.name
    let request = GrantRequest(
      verb: "grant", group: group, rights: options.rights, asksForConfirmation: options.confirm, groupHint: "name one of these")
    var team = ""
    let grant = try request.grant(vault.ownedVault(), audit) { opened in
      let (name, ofWhom) = try application(in: opened)
      team = ofWhom
      return name
    } agree: {
      let owner = Caller.team(of: group).map { "team \($0)" } ?? "no team"
      Descriptor.error.note("note: \(app) is \(team), the group of \(owner)\n")
    }
    if json { try Descriptor.output.write(grant.json.description + "\n") }
  }

  /// The name that the grant is for, and whose it is.
  private func application(in vault: borrowing OpenApps) throws -> (name: String, team: String) {
    switch try GrantedProgram(namedOnCommandLine: app) {
    case .command: return (app, "this command, even if a key file opens the vault")
    case .unit: return (app, "a service of the system, whatever it runs")
    case .flatpak: return (app, "an application of Flatpak, or a program of yours that says so")
    case .program: return (app, "every program of exactly this content")
    case nil: break
    }
    let pin = try about(app) { try AppPlace.apps().pin(named: app, in: vault) }
    return (pin.applicationIdentifier, "of team \(pin.teamKey.identifier)")
  }
}

struct AppRevoke: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "revoke", abstract: "Take back what was granted.")

  @Argument(
    help: "TEAM.identifier, or the identifier alone; or coffer, unit:NAME.service, flatpak:ID.", completion: OfferedNames.apps)
  var app: String

  @Argument(help: "The group.", completion: OfferedNames.groups)
  var group: String

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let group = try about(self.group) { try AccessGroup(self.group) }
    var audit = try AppAudit(.revoke)
    audit.group = group.name
    var opened = try vault.ownedVault().apps(isReading: false)
    audit.came(to: opened)
    let name = try audit.deciding {
      try GrantedProgram(namedOnCommandLine: app) != nil
        ? app : about(app) { try AppPlace.apps().pin(named: app, in: opened) }.applicationIdentifier
    }
    audit.application = name
    try audit.deciding {
      guard try opened.grants(to: name).contains(where: { $0.group == group }) else {
        throw Failure(.notFound, "\(name): nothing in \(group) was granted to it", hint: "coffer app show \(name)")
      }
    }
    try about(name) { try audit.doing { try opened.removeGrant(to: name, group) } }
    opened.finish()
  }
}

extension GrantedProgram {
  /// - Throws: usage.
  init?(namedOnCommandLine name: String) throws {
    do throws(Malformed) { try self.init(named: name) } catch { throw Failure.usage("\(name): no such name: \(error)") }
  }
}
