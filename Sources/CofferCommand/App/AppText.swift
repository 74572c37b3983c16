import AccessRights
import CofferApps
import CofferConsole
import VaultCore

extension AppPin {
  func members(_ state: InstalledApps.Entry.State) -> [(String, JSON)] {
    [
      ("application", .text(applicationIdentifier)), ("identifier", .text(identifier.text)),
      ("team", .text(teamKey.identifier.text)), ("name", .text(displayName)), ("version", .natural(version)),
      ("state", .text(state.rawValue)), ("installed", .text(firstInstalled.text)),
      ("removed", removed.map { .text($0.text) } ?? .null),
    ]
  }
}

extension Grant {
  var json: JSON {
    .object([
      ("application", .text(application)), ("group", .text(group.name)), ("rights", .text(rights.names)),
      ("confirm", .boolean(asksForConfirmation)), ("created", .text(created.text)),
    ])
  }

  /// On one line, for people.
  var text: String { "\(group.name): \(rights.names)\(asksForConfirmation ? ", after asking" : "")" }
}
