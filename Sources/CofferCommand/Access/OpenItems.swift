import AccessRights
import Coffer
import CofferConsole
import CofferRequests
import Explanations
import VaultCore

/// The items that a command works with: the agent's, or those of the vault that the command has opened itself.
struct OpenItems {
  let keychain: Keychain
  /// `TEAM.identifier` of the app in whose name the command works.
  let application: String?

  init(_ keychain: Keychain, application: String?) {
    self.keychain = keychain
    self.application = application
  }

  /// Asks the owner at the terminal, if the group's policy has it.
  /// - Throws: locked if there is no person to ask; cancelled.
  static func confirm(_ confirmation: Confirmation, _ name: String, _ isInputAllowed: Bool) throws {
    guard isInputAllowed, Descriptor.input.isTerminal else {
      throw Failure(
        .locked,
        "group \(confirmation.group.name): its owner has to agree before \(name) may \(confirmation.deedText), and cannot be asked here",
        hint: name == Caller.commandName
          ? "open the vault as its owner: --passphrase-fd N, --key-file FILE or --recovery-key-fd N; or answer at a terminal"
          : "answer at a terminal")
    }
    guard try Question.isYes("May \(name) \(confirmation.deedText)? [y/N] ".escapingControls()) else { throw Failure.cancelled }
  }

  /// The group to look in, or to add to. Nil: those of the app in whose name the command works.
  func group(named name: String?) throws(VaultError) -> AccessGroup? {
    if let name { return try AccessGroup(name) }
    return application == nil ? .standard : nil
  }

  /// - Throws: not found, with the groups that there are, as far as the command may look into them.
  func checkExists(_ group: AccessGroup, hint: String) throws {
    try about("group \(group.name)") {
      guard try !keychain.contains(group) else { return }
      throw Failure.noGroup(
        group, of: try keychain.entitlements.groups.filter { $0.rights.contains(.list) }.map(\.group), hint: hint)
    }
  }

  /// A group that is not there is made with its first item, where that is wanted.
  /// - Throws: not found, where it is not.
  func checkCanAdd(to group: AccessGroup, isCreated: Bool) throws {
    if !isCreated { try checkExists(group, hint: "--create-group makes it") }
  }

  /// Called at the end of a command. The command is done by then, so a state that cannot be recorded is a warning.
  func finish() {
    if let damage = keychain.damagedHead {
      Descriptor.error.note(
        "note: a removed item of this name is damaged, and its versions were not taken over: "
          + "\(Failure(damage).message.escapingControls())\nhint: \(Hints.damage)\n")
    }
    do { try keychain.close() } catch { Vault.noteUnrecorded(error) }
  }
}

extension Failure {
  static func noGroup(_ group: AccessGroup, of groups: [AccessGroup], hint: String) -> Failure {
    Failure(.notFound, "group \(group.name): does not exist", hint: hint, details: groups.map { "group \($0.name)" })
  }
}

extension Confirmation {
  /// As in "may read mail/ada".
  fileprivate var deedText: String {
    let name = item.nameWithGroup(group)
    return switch deed {
    case .read: "read \(name)"
    case .add: "add \(name)"
    case .change: "change \(name)"
    case .move(let group): "move \(name) to \(group.name)"
    case .remove: "remove \(name)"
    case .reclassify(let accessible): "change when \(name) can be read, to \(AccessibilityName(accessible).rawValue)"
    case .changeConfirmation: "change whether you are asked about \(name)"
    }
  }
}
