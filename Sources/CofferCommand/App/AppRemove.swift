import AccessRights
import ArgumentParser
import CofferApps
import CofferConsole

struct AppRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove an app with its container. Its items stay.",
    discussion: "Asks at a terminal, unless --force or --no-input is given. Without a terminal nothing is asked.", aliases: ["rm"]
  )

  @Argument(help: "TEAM.identifier, or the identifier alone.", completion: OfferedNames.apps)
  var app: String

  @Flag(help: "Do not ask.")
  var force = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    var audit = try AppAudit(.remove)
    var opened = try vault.ownedVault().apps(isReading: false)
    audit.came(to: opened)
    let name = try about(app) { try audit.deciding { try AppPlace.apps().pin(named: app, in: opened) } }.applicationIdentifier
    audit.application = name
    if !force, !vault.noInput, Descriptor.input.isTerminal {
      guard try Question.isYes("Remove \(name) with its documents and settings? [y/N] ") else { throw Failure.cancelled }
    }
    try about(name) { try audit.doing { try AppPlace.apps().remove(name, in: &opened, at: .now()) } }
    opened.finish()
  }
}

struct AppForget: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Delete the records of a removed app from the vault, and its items.",
    discussion: "Asks at a terminal, unless --force or --no-input is given. Without a terminal nothing is asked.")

  @Argument(help: "TEAM.identifier, or the identifier alone.", completion: OfferedNames.apps)
  var app: String

  @Flag(help: "Do not ask.")
  var force = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    var audit = try AppAudit(.forget)
    var opened = try vault.ownedVault().apps(isReading: false)
    let name = try about(app) { try audit.deciding { try AppPlace.apps().pin(named: app, in: opened) } }.applicationIdentifier
    audit.application = name
    try audit.deciding { try opened.checkIsOwner("forget", "deletes the items of a team") }
    if !force, !vault.noInput, Descriptor.input.isTerminal {
      let count = try opened.itemCount(of: name)
      guard try Question.isYes("Forget \(name) with \(counted(count, "item"))? [y/N] ") else { throw Failure.cancelled }
    }
    let forgotten = try about(name) { try audit.doing { try AppPlace.apps().forget(name, in: &opened) } }
    opened.finish()
    if forgotten.unavailable > 0 {
      Descriptor.error.note("note: \(counted(forgotten.unavailable, "item")) of other devices cannot be seen here, and stay\n")
    }
  }
}
