import Coffer
import CofferConsole
import CofferFiles
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore
import VaultUpkeep

/// A vault in a file of the user's, which this process opens.
struct FileVault: OwnedVault {
  let options: VaultOptions

  var name: String { get throws { try options.vault ?? Places { Environment[$0] }.vault } }

  // MARK: Making and unlocking

  func checkIsFree() throws { try VaultPlace.checkFree(options.vault) }

  func create(with credential: borrowing Credential, kdf: KDFParameters, recovery: consuming Secret) throws {
    let place = try VaultPlace(creating: options.vault)
    let second: Credential? = recovery.count > 0 ? try .recoveryKey(recovery) : nil
    let vault = try about(place.path) {
      try Vault.create(
        in: place.store, with: credential, kdf: kdf, at: .now(), anchor: place.anchor, second: second)
    }
    // It is made: its recovery key counts, and is about to be shown. Without a key of its own it uses that of the others.
    try? place.deviceKeys(of: vault.keys.vault).createBesideShared()
    vault.finish()
  }

  func check() throws { try options.open().finish() }

  func unlock(startingAgentWith agentOptions: [String]) throws {
    let place = try options.openPlace()
    try unlock(startingAgentWith: agentOptions) { try options.withCredential(for: place, $0) }
  }

  func unlock(with credential: borrowing Credential) throws {
    try unlock(startingAgentWith: []) { try $0(credential) }
  }

  /// - Parameter unlock: Gets what hands a credential to the agent.
  private func unlock(
    startingAgentWith agentOptions: [String], _ unlock: ((borrowing Credential) throws -> Void) throws -> Void
  ) throws {
    let agent = try AgentProgram(for: options)
    let arguments = agentOptions + (options.allowSwap ? ["--allow-swap"] : [])
    var isStarted = try agent.startUnlessRunning(with: arguments)
    if !isStarted, !agentOptions.isEmpty {
      Descriptor.error.note("note: the agent runs already: it keeps its own --idle and --lease (coffer agent stop ends it)\n")
    }
    let keychain = try Keychain.connectCommand(toAgentAt: agent.socket)
    do {
      try unlock { credential in
        do {
          try keychain.unlock(with: credential, ceiling: options.ceiling)
        } catch KeychainError.Code.agent {
          // Another command had started it, and has ended it because its own credential was wrong.
          isStarted = try agent.startUnlessRunning(with: arguments)
          try keychain.unlock(with: credential, ceiling: options.ceiling)
        }
      }
    } catch {
      // It was started for this alone. Another command may have unlocked it meanwhile.
      if isStarted, case .locked? = try? keychain.agentStateIfThere() { try? keychain.endAgent() }
      throw error
    }
  }

  func agent() throws -> Keychain { try Keychain.connectCommand(toAgentAt: options.socket()) }

  // MARK: Slots

  func slots() throws -> [SlotDescription] {
    let place = try options.openPlace()
    return try about(place.path) { try Vault.inspect(place.store).slots }
  }

  func report() throws -> VaultReport {
    let place = try options.openPlace()
    // Before the vault is opened, which may bring in what is outside.
    let outside = place.store.logByteCount
    let (status, rekeys) = try about(place.path) { try read(place) }
    return VaultReport(
      members: [
        ("path", .text(place.path)), ("id", .text(status.id.description)), ("created", .text(status.created.text)),
        ("generation", .natural(status.generation)), ("records", .natural(status.recordCount)),
        ("check", .text(status.checkCode)), ("outside", .natural(UInt64(outside))), ("proven", .boolean(status.isProven)),
        ("agent", .text(try agent().stateText())),
      ] + rekeys.map { ("re-key of \($0.group.name)", .text("\($0.done) of \($0.total)")) }, slots: status.slots)
  }

  private func read(_ place: VaultPlace) throws -> (VaultStatus, [RekeyStatus]) {
    guard options.namesCredentialOption else { return (try Vault.inspect(place.store), []) }
    let opened = try options.open(place)
    let (status, rekeys) = (try opened.status(), try opened.unfinishedRekeys())
    opened.finish()
    return (status, rekeys)
  }

  func addSlot(kdf: KDFParameters?, _ credential: () throws -> Credential) throws {
    let place = try options.openPlace()
    var opened = try options.open(place)
    let (limits, slots) = try about(place.path) { (try policy(of: opened), try opened.status().slots) }
    try about(place.path) { try SlotAdd.checkRoom(beside: slots) }
    let credential = try credential()
    try about(place.path) { try checkOpensNone(of: slots, credential, place) }
    _ = try about(place.path) { try opened.addSlot(credential, kdf: options.cost(kdf, limits, of: credential.slotType)) }
    opened.finish()
  }

  /// A second slot for one key file gives no other way in, and stays when a person removes the first one.
  /// - Throws: duplicate.
  private func checkOpensNone(of slots: [SlotDescription], _ credential: borrowing Credential, _ place: VaultPlace) throws {
    guard credential.slotType == .keyFile else { return }
    for slot in slots where slot.type == .keyFile {
      guard try MasterKeyRenewal.opens(slot, of: place.store, with: credential, options.ceiling) else { continue }
      throw Failure(.duplicate, "--new-key-file: opens slot \(slot.index) already", hint: "coffer vault slot list")
    }
  }

  func removeSlot(about subject: String, _ choose: (SlotDescription?, [SlotDescription]) throws -> SlotDescription) throws {
    var opened = try options.open()
    let slot = try choose(opened.openedSlot, opened.status().slots)
    try CofferConsole.about(subject) { try opened.removeSlot(slot.id) }
    opened.finish()
  }

  func replaceSlot(
    kdf: KDFParameters?, _ choose: (SlotDescription?, [SlotDescription]) throws -> SlotDescription,
    with credential: () throws -> Credential
  ) throws {
    let place = try options.openPlace()
    var opened = try options.open(place)
    let old = try choose(opened.openedSlot, opened.status().slots)
    let limits = try about(place.path) { try policy(of: opened) }
    let credential = try credential()
    try about(place.path) {
      try opened.replaceSlot(old.id, with: credential, kdf: options.cost(kdf, limits, of: credential.slotType))
    }
    opened.finish()
  }

  private func policy(of opened: borrowing Vault) throws -> Limits {
    do { return try opened.limits() } catch {
      guard (error as? VaultError)?.code.concernsOneRecord == true else { throw error }
      return .replacingDamaged
    }
  }

  func resealSlot(_ choose: (SlotDescription, Limits) throws -> KDFParameters) throws {
    let place = try options.openPlace()
    try options.withCredential(for: place) { credential in
      var opened = try options.open(place, with: credential)
      let slot = opened.openedSlot
      let kdf = try choose(slot, policy(of: opened))
      try opened.replaceSlot(slot.id, with: credential, kdf: kdf)
      opened.finish()
    }
  }

  // MARK: Items and apps

  /// The agent derives the app from the peer process, so `--as` does not apply to its items.
  func agentItems(_ access: AccessOptions, asOwner _: Bool) throws -> OpenItems? {
    guard access.application == nil, !access.noAgent else { return nil }
    return try options.agent().map { OpenItems($0, application: nil) }
  }

  func apps(isReading: Bool) throws -> OpenApps {
    if isReading, !options.namesCredential, let keychain = try options.agent(), try keychain.agentState() == .unlocked {
      return OpenApps(keychain, isReadOnly: true)
    }
    return try OpenApps(options.open())
  }

  func leases() throws -> [OpenLease] {
    let keychain = try agent()
    return try keychain.agentStateIfThere() == .unlocked ? keychain.leases() : []
  }

  func agentLog(keepsCredential: Bool) throws -> AgentLog? { nil }

  func listedItems() throws -> [Entry] {
    guard try options.namesCredential || options.agent()?.agentState() == .unlocked else { return [] }
    let opened = try apps(isReading: true)
    let entries = try opened.entries()
    opened.finish()
    return entries
  }
}
