import CofferRequests
import Pinentry
import VaultCore

/// The text of a question to the owner. Text of other programs is on one line, escaped, and never first: there a window might
/// take it for a form of its own.
enum QuestionText {
  // In bytes as they are sent: together they fit the one line that a pinentry takes.
  private static let vaultLimit = 80
  private static let itemLimit = 120
  private static let groupLimit = 80
  private static let purposeLimit = 96

  /// - Parameters:
  ///   - vault: Its file.
  ///   - minutes: As `words`.
  static func question(_ confirmation: Confirmation, _ program: ProgramIdentity, vault: String, minutes: Int) -> Pinentry.Question
  {
    var lines = [
      "A program asks for something in your vault", PinentryText.visible(vault, limit: vaultLimit), "", asking(program),
    ]
    lines.append("wants to \(deed(confirmation.deed))")
    lines.append(PinentryText.visible(name(confirmation.item), limit: itemLimit))
    lines.append("in the group \(PinentryText.visible(confirmation.group.name, limit: groupLimit))")
    lines.append("")
    if confirmation.purpose.isEmpty {
      lines.append("It does not say why.")
    } else {
      lines.append("It gives this reason: \"\(PinentryText.visible(confirmation.purpose, limit: purposeLimit))\"")
    }
    let words = words(minutes: minutes)
    let time = minutes == 1 ? "1 minute" : "\(minutes) minutes"
    lines += [
      "",
      words.second.map { "Type \"\(words.first)\" to allow it once, \"\($0)\" to allow it for \(time)." }
        ?? "Type \"\(words.first)\" to allow it once.",
    ]
    lines.append("Anything else refuses.")
    return Pinentry.Question(description: lines.joined(separator: "\n"), prompt: "Answer:")
  }

  /// - Parameter minutes: 0: there is nothing but once.
  static func words(minutes: Int) -> Pinentry.Words { Pinentry.Words(first: "yes", second: minutes == 0 ? nil : "longer") }

  private static func asking(_ program: ProgramIdentity) -> String {
    switch program {
    case .app(let name):
      let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) ?? name.startIndex
      return "The app \(name[dot...].dropFirst())\nof team \(name[..<dot])"
    case .command: return "The command coffer"
    case .client(let client, of: .secretService): return "\(asking(client))\nvia Secret Service"
    case .client(let client, of: let program): return "\(asking(client))\nby Coffer's program \(program.rawValue)"
    case .own(.secretService): return "A program of the session (Secret Service)"
    case .own(let program): return "Coffer's program \(program.rawValue)"
    case .unit(let name): return "The system's service \(name)"
    case .flatpak(let identifier): return "The Flatpak \(identifier)"
    case .program(let path, _), .interpreter(let path): return "The program \(PinentryText.visible(path, limit: itemLimit))"
    case .unknown(let why): return "A program (\(PinentryText.visible(why, limit: itemLimit)))"
    }
  }

  private static func deed(_ deed: Confirmation.Deed) -> String {
    switch deed {
    case .read: "read the secret of"
    case .add: "add"
    case .change: "change"
    case .remove: "remove"
    case .move(let group): "move to the group \(PinentryText.visible(group.name, limit: groupLimit)):"
    case .reclassify(let accessible): "make it readable \(circumstance(accessible)):"
    case .changeConfirmation: "change when you are asked about"
    }
  }

  private static func circumstance(_ accessible: Accessibility) -> String {
    switch accessible {
    case .whenUnlocked: "while the vault is unlocked, on any machine"
    case .afterFirstUnlock: "also after the vault was locked again, on any machine"
    case .whenUnlockedThisDevice: "on this machine alone, while the vault is unlocked"
    case .afterFirstUnlockThisDevice: "on this machine alone, also after the vault was locked again"
    case .whenPasscodeSetThisDevice: "on this machine alone, while the vault is unlocked and has a passphrase"
    }
  }

  /// The texts that make it unique, and what its label says.
  private static func name(_ item: Item) -> String {
    let parts = ["service", "server", "path", "title", "account"].compactMap { item[$0] }
    let name = parts.isEmpty ? "\(item.itemClass)" : parts.joined(separator: "/")
    return item.label.map { "\(name) (\($0))" } ?? name
  }
}
