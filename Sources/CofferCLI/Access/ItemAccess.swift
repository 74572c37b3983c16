import AppContainers
import Apps
import ArgumentParser
import VaultCore

/// In whose name a command works with items.
struct AccessOptions: ParsableArguments {
  @Option(
    name: .customLong("as"), help: ArgumentHelp("Do what this app may do, and no more.", valueName: "app"))
  var application: String?

  func access(in vault: borrowing Vault) throws -> ItemAccess {
    guard let application else { return try ItemAccess(in: vault) }
    let apps = try AppPlace.apps()
    let name = try about(application) { try apps.pin(named: application, in: vault) }.applicationIdentifier
    return try about(name) {
      guard let signed = try apps.bundle(name)?.signed ?? developed(name) else { throw VaultError(.appNotInstalled) }
      return try ItemAccess(application: name, vault.entitlements(of: signed), in: vault)
    }
  }

  /// The app of `coffer app dev`, which lies in no place of apps.
  private func developed(_ name: String) throws -> SignedManifest? {
    guard let path = Environment[RunningApp.manifestVariable] else { return nil }
    let signed = try ProgramOfApp.manifest(inFile: path)
    return signed.manifest.applicationIdentifier.utf8.elementsEqual(name.utf8) ? signed : nil
  }
}

/// Which groups a command may use, and how. Groups of a team are its apps': the command, which any program of the user can start with a
/// key file that lies there, uses them only where the owner has granted it, or has come in person.
struct ItemAccess {
  /// The app in whose name the command works. Nil: in its own.
  private let app: (name: String, entitlements: Entitlements)?
  /// What the owner has let the command into. Nil where it is the owner who has come.
  private let granted: Entitlements?

  /// The name under which something is granted to the command.
  static let commandName = "coffer"

  init(in vault: borrowing Vault) throws {
    (app, granted) = (nil, try Self.granted(in: vault))
  }

  /// The name of an app takes away, and never gives: what a key file does not open for the command, it does not open under that name.
  init(application: String, _ entitlements: Entitlements, in vault: borrowing Vault) throws {
    (app, granted) = ((application, entitlements), try Self.granted(in: vault))
  }

  private static func granted(in vault: borrowing Vault) throws -> Entitlements? {
    try vault.isOpenedByOwner() ? nil : Entitlements(vault.grants(to: commandName).map(\.entitlement))
  }

  /// `TEAM.identifier` of the app in whose name the command works.
  var application: String? { app?.name }

  /// Before anything is looked up: that there is a group tells something too.
  /// - Throws: denied.
  func check(_ group: AccessGroup, _ rights: Entitlements.Rights) throws {
    if let app { try about(app.name) { _ = try app.entitlements.check(group, rights) } }
    guard let granted, let team = AppTeams.owner(of: group), (try? granted.check(group, rights)) == nil else { return }
    throw Failure(
      .denied, "group \(group.name): belongs to apps of team \(team)",
      hint:
        "open the vault with its passphrase, or let the command in for good: coffer app grant \(Self.commandName) GROUP --read --list"
    )
  }

  func allows(_ group: AccessGroup, _ rights: Entitlements.Rights) -> Bool { (try? check(group, rights)) != nil }

  /// Asks the owner, where the owner wants to be asked about this group.
  /// - Parameter purpose: Such as "read mail/ada".
  /// - Throws: locked where nobody can be asked; cancelled.
  func confirm(_ purpose: String, _ group: AccessGroup, _ rights: Entitlements.Rights, isInputAllowed: Bool) throws {
    let callers = [app, granted.map { (Self.commandName, $0) }].compactMap(\.self)
    guard let name = callers.first(where: { $0.1.needsConfirmation(group, rights) })?.0 else { return }
    guard isInputAllowed, Descriptor.input.isTerminal else {
      throw Failure(
        .locked, "group \(group.name): its owner wants to be asked before \(name) may \(purpose), and there is nobody to ask")
    }
    guard try Question.isYes("May \(name) \(purpose)? [y/N] ".escapingControls()) else { throw Failure.cancelled }
  }

  // MARK: Where to look

  /// The groups in which an item is meant that is named with this group, or with none.
  func groups(named group: AccessGroup?, _ rights: Entitlements.Rights) throws -> [AccessGroup] {
    if group == nil, let app {
      let held = try about(app.name) { try app.entitlements.groups(for: rights, in: nil) }
      let allowed = held.filter { allows($0, rights) }
      // Where all of them are closed, "no such item" would not be true.
      if allowed.isEmpty, let first = held.first { try check(first, rights) }
      return allowed
    }
    let group = group ?? .standard
    try check(group, rights)
    return [group]
  }

  /// Where a new item goes.
  func groupForAdding(_ group: AccessGroup?) throws -> AccessGroup {
    guard let app else { return try groups(named: group, .write)[0] }
    let group = try about(app.name) { try app.entitlements.groupForAdding(group) }
    try check(group, .write)
    return group
  }
}

extension Selection {
  /// The item that is meant among those that the caller may use.
  /// - Throws: denied; not found; several match.
  func one(in vault: borrowing Vault, _ access: ItemAccess, _ rights: Entitlements.Rights) throws -> Entry {
    let groups = try access.groups(named: name.group.map { try AccessGroup($0) }, rights)
    if access.application == nil { return try one(in: vault) }
    if groups.count == 1, let group = groups.first { return try inGroup(group).one(in: vault) }
    var found: [Entry] = []
    for group in groups where try vault.contains(group) {
      do { found.append(try inGroup(group).one(in: vault)) } catch let failure as Failure where failure.status == .notFound {}
    }
    guard let first = found.first else { throw Failure(.notFound, "\(name): no such item") }
    guard found.count == 1 else {
      throw Failure(
        .severalMatch, "\(name): \(found.count) items match", hint: "name one with its group: coffer://GROUP/SERVICE/ACCOUNT",
        details: found.map(\.nameWithGroup))
    }
    return first
  }

  private func inGroup(_ group: AccessGroup) throws -> Selection {
    var named = name
    named.group = group.name
    return try Selection(named, itemClass)
  }
}

extension Vault {
  /// A key file lies about for programs; who has typed a passphrase is a person, or has been trusted with it. A vault that has only key
  /// files knows no better.
  borrowing func isOpenedByOwner() throws -> Bool {
    let kinds: Set<SlotType> = [.passphrase, .passphraseAndKeyFile, .recoveryKey]
    if kinds.contains(openedSlot.type) { return true }
    return try status().slots.allSatisfy { !kinds.contains($0.type) }
  }

  /// - Parameter deed: What only the owner does, as in "grant: only the owner …".
  /// - Throws: denied.
  borrowing func checkIsOpenedByOwner(_ verb: String, _ deed: String) throws {
    guard try !isOpenedByOwner() else { return }
    throw Failure(
      .denied, "\(verb): a key file lies there for programs, and only the owner \(deed)",
      hint: "open the vault with its passphrase, or with the recovery key")
  }
}
