import AccessRights
import ArgumentParser
import CofferApps
import CofferConsole
import CofferRequests
import VaultCore

struct AppInstall: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Install an app from its signed manifest.",
    discussion: """
      Its executables are copied, and nothing else. The first app of a team, and one whose identifier another team's app has, are \
      installed after asking, at a terminal, unless --force or --no-input is given; elsewhere nothing is asked.
      """)

  @OptionGroup var manifest: ManifestOptions

  @Flag(help: "Do not ask.")
  var force = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let place = try manifest.place()
    var audit = try AppAudit(.install)
    let signed = try about(place.path) { try audit.deciding { try SignedManifestFile.read(place.bytes) } }
    audit.application = signed.manifest.applicationIdentifier
    var opened = try vault.ownedVault().apps(isReading: false)
    audit.came(to: opened)
    let plan = try about(audit.application) { try audit.deciding { try AppPlace.apps().plan(signed, in: opened) } }
    try audit.deciding { try confirm(plan) }
    let done = try about(audit.application) {
      try audit.doing { try AppPlace.apps().install(place.bytes, from: place.directory, in: &opened, at: .now()) }
    }
    opened.finish()
    guard json else {
      return try Descriptor.output.write("\(done.application)\t\(done.signed.manifest.version)\t\(done.kind.rawValue)\n")
    }
    let members: [(String, JSON)] = [
      ("application", .text(done.application)), ("version", .natural(done.signed.manifest.version)),
      ("kind", .text(done.kind.rawValue)), ("newTeam", .boolean(done.isNewTeam)),
      ("namesakes", .array(done.namesakes.map { .text($0.applicationIdentifier) })),
    ]
    try Descriptor.output.write(JSON.object(members).description + "\n")
  }

  private func confirm(_ plan: Installation) throws {
    let team = plan.signed.teamKey.identifier
    if plan.isNewTeam {
      Descriptor.error.note("note: the first app of team \(team); compare this name with the one that the team gives\n")
    }
    for namesake in plan.namesakes {
      Descriptor.error.note(
        "coffer: warning: \(plan.signed.manifest.identifier) is also an app of team \(namesake.teamKey.identifier); this one is of "
          + "team \(team), and gets none of its items\n")
    }
    guard plan.isNewTeam || !plan.namesakes.isEmpty, !force, !vault.noInput, Descriptor.input.isTerminal else { return }
    guard try Question.isYes("Install it? [y/N] ") else { throw Failure.cancelled }
  }
}

struct AppList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the apps in the vault.",
    discussion: "Columns: app, name, version, state; at no terminal without a heading, separated by tabs.", aliases: ["ls"])

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    var opened = try vault.ownedVault().apps(isReading: true)
    let apps = try AppPlace.apps()
    if !opened.isReadOnly { try apps.recover(in: &opened) }
    let entries = try apps.entries(in: opened)
    opened.finish()
    for entry in entries {
      if let problem = entry.problem {
        Descriptor.error.note("coffer: warning: \(Failure(problem).message.escapingControls())\n")
      }
    }
    guard !json else {
      let objects = entries.map { JSON.object($0.pin.members($0.state)) }
      return try Descriptor.output.write(JSON.array(objects).description + "\n")
    }
    var table = Table(heading: ["APP", "NAME", "VERSION", "STATE"])
    for entry in entries {
      table.rows.append([
        entry.pin.applicationIdentifier, entry.pin.displayName, "\(entry.pin.version)", entry.state.rawValue,
      ])
    }
    try Descriptor.output.write(table.text(style: .current()))
  }
}

struct AppShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show an app, its groups and its grants.",
    discussion: "Compares the executables with what was signed.")

  @Argument(help: "TEAM.identifier, or the identifier alone.", completion: OfferedNames.apps)
  var app: String

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    var opened = try vault.ownedVault().apps(isReading: true)
    let apps = try AppPlace.apps()
    if !opened.isReadOnly { try apps.recover(in: &opened) }
    guard try GrantedProgram(namedOnCommandLine: app) == nil else {
      return try print(opened.grants(to: app), of: app)
    }
    let pin = try about(app) { try apps.pin(named: app, in: opened) }
    let grants = try opened.grants(to: pin.applicationIdentifier)
    let groups = AppGroups(apps, pin)
    opened.finish()
    let state: InstalledApps.Entry.State = pin.removed != nil ? .removed : groups.problem == nil ? .installed : .damaged
    if let problem = groups.problem { Descriptor.error.note("coffer: warning: \(problem.escapingControls())\n") }
    var members = pin.members(state)
    guard !json else {
      members += [
        ("container", groups.container.map { .text($0) } ?? .null),
        ("keychainAccessGroups", .array(groups.keychain.map { .text($0) })),
        ("applicationGroups", .array(groups.application.map { .text($0) })),
        ("executables", .array(groups.executables.map { .object([("path", .text($0.path)), ("role", .text($0.role.name))]) })),
        ("grants", .array(grants.map(\.json))),
      ]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    var table = Table(heading: ["FIELD", "VALUE"])
    for (name, value) in members where pin.removed != nil || name != "removed" { table.rows.append([name, value.plain]) }
    if let container = groups.container { table.rows.append(["container", container]) }
    for name in groups.keychain { table.rows.append(["keychain access group", name]) }
    for name in groups.application { table.rows.append(["application group", name]) }
    for executable in groups.executables { table.rows.append(["executable", "\(executable.path) (\(executable.role.name))"]) }
    for grant in grants { table.rows.append(["granted", grant.text]) }
    try Descriptor.output.write(table.text(style: .current()))
  }

  /// The groups that were granted to the command itself.
  private func print(_ grants: [Grant], of name: String) throws {
    guard !json else {
      let members: [(String, JSON)] = [("application", .text(name)), ("grants", .array(grants.map(\.json)))]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    let table = Table(heading: ["FIELD", "VALUE"], rows: grants.map { ["granted", $0.text] })
    try Descriptor.output.write(table.text(style: .current()))
  }
}

/// The groups in the files of an installed app; empty if the files are missing or invalid.
private struct AppGroups {
  var container: String?
  var keychain: [String] = []
  var application: [String] = []
  var executables: [Manifest.Executable] = []
  var problem: String?

  init(_ apps: InstalledApps, _ pin: AppPin) {
    guard pin.removed == nil else { return }
    do {
      if let problem = apps.problem(with: pin) { throw problem }
      guard let bundle = try apps.bundle(pin.applicationIdentifier) else { return }
      let manifest = bundle.signed.manifest
      keychain = manifest.keychainAccessGroups.map(\.name)
      application = manifest.applicationGroups.map(\.name)
      executables = manifest.executables
      container = try apps.containerPath(of: pin.applicationIdentifier)
      try InstalledApps.prove(bundle)
    } catch {
      problem = Failure(error, about: pin.applicationIdentifier).message
    }
  }
}
