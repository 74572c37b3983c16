import AppContainers
import Apps
import ArgumentParser
import ItemService
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
      let entitlements = try vault.entitlements(of: signed)
      // An older manifest of the team's may give more than the one that was installed.
      guard try signed.manifest.version == vault.pin(name)?.version else {
        throw AppsError(.bundleDamaged, "version \(signed.manifest.version) lies where another one was installed")
      }
      return try ItemAccess(application: name, entitlements, in: vault)
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
  private enum Name {
    /// Whoever opened the vault with a passphrase or a recovery key; where it has neither, with its key file.
    case owner
    case command(granted: Entitlements)
    /// To take an app's name gives nothing that the command has not: it stays within what that was granted, unless the owner uses it.
    case app(String, Entitlements, granted: Entitlements?)
  }

  private let caller: Name

  init(in vault: borrowing Vault) throws {
    caller = try Self.granted(in: vault).map { .command(granted: $0) } ?? .owner
  }

  init(application: String, _ entitlements: Entitlements, in vault: borrowing Vault) throws {
    caller = .app(application, entitlements, granted: try Self.granted(in: vault))
  }

  /// What the owner has let the command into. Nil where the owner has come.
  private static func granted(in vault: borrowing Vault) throws -> Entitlements? {
    guard try !vault.isOpenedByOwner() else { return nil }
    return Entitlements(try vault.grants(to: Caller.commandName).map(\.entitlement))
  }

  /// `TEAM.identifier` of the app in whose name the command works.
  var application: String? {
    if case .app(let name, _, _) = caller { name } else { nil }
  }

  /// Before anything is looked up: that there is a group tells something too.
  /// - Throws: denied.
  func check(_ group: AccessGroup, _ rights: Entitlements.Rights) throws {
    switch caller {
    case .owner: break
    case .command(let granted): try Self.checkCommand(granted, group, rights)
    case .app(let name, let entitlements, let granted):
      try about(name) { _ = try entitlements.check(group, rights) }
      if let granted { try Self.checkCommand(granted, group, rights) }
    }
  }

  private static func checkCommand(_ granted: Entitlements, _ group: AccessGroup, _ rights: Entitlements.Rights) throws {
    guard let team = Caller.team(of: group), (try? granted.check(group, rights)) == nil else { return }
    throw Failure(
      .denied, "group \(group.name): belongs to apps of team \(team)",
      hint:
        "open the vault with its passphrase, or let the command in for good: coffer app grant \(Caller.commandName) GROUP --read --list"
    )
  }

  func allows(_ group: AccessGroup, _ rights: Entitlements.Rights) -> Bool { (try? check(group, rights)) != nil }

  /// Asks the owner, where the owner wants to be asked about this group.
  /// - Parameter purpose: Such as "read mail/ada".
  /// - Throws: locked where nobody can be asked; cancelled.
  func confirm(_ purpose: String, _ group: AccessGroup, _ rights: Entitlements.Rights, isInputAllowed: Bool) throws {
    let name: String
    let isWanted: Bool
    switch caller {
    case .owner: return
    case .command(let granted): (name, isWanted) = (Caller.commandName, granted.needsConfirmation(group, rights))
    case .app(let application, let held, let granted):
      let isWantedOfCommand = granted?.needsConfirmation(group, rights) ?? false
      (name, isWanted) = (application, isWantedOfCommand || held.needsConfirmation(group, rights))
    }
    guard isWanted else { return }
    guard isInputAllowed, Descriptor.input.isTerminal else {
      throw Failure(
        .locked, "group \(group.name): its owner wants to be asked before \(name) may \(purpose), and there is nobody to ask")
    }
    guard try Question.isYes("May \(name) \(purpose)? [y/N] ".escapingControls()) else { throw Failure.cancelled }
  }

  // MARK: Where to look

  /// The groups in which an item is meant that is named with this group, or with none.
  func groups(named group: AccessGroup?, _ rights: Entitlements.Rights) throws -> [AccessGroup] {
    if case .app(let name, let entitlements, _) = caller {
      let held = try about(name) { try entitlements.groups(for: rights, in: group) }
      let usable = held.filter { allows($0, rights) }
      // Where nothing is left, the rule is the answer, and not that there is no such item.
      if usable.isEmpty, let first = held.first { try check(first, rights) }
      return usable
    }
    let group = group ?? .standard
    try check(group, rights)
    return [group]
  }

  /// Where a new item goes.
  func groupForAdding(_ group: AccessGroup?) throws -> AccessGroup {
    if case .app(let name, let entitlements, _) = caller {
      let group = try about(name) { try entitlements.groupForAdding(group) }
      try check(group, .write)
      return group
    }
    return try groups(named: group, .write)[0]
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
