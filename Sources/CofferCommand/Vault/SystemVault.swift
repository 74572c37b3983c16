import Coffer
import CofferConsole
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore

/// The vault that the system agent keeps for this user. Each change carries a proof of the owner.
struct SystemVault: OwnedVault {
  let options: VaultOptions
  let keychain: Keychain

  var name: String { VaultOptions.systemVault }

  /// The agent was lost before it was told to go on, and has changed nothing.
  static let agentEnded = Failure(
    .inputOutput, "\(VaultOptions.systemVault): its agent has ended or does not answer",
    hint: "nothing has been changed; try again")

  /// The agent compares the vault when it opens it.
  func checkAge() {}

  // MARK: Making and unlocking

  func checkIsFree() throws {
    guard try about(name, keychain.hasVault) else { return }
    throw Failure(StorageError(.vaultExists), about: name)
  }

  func create(with credential: borrowing Credential, kdf: KDFParameters, recovery: consuming Secret) throws {
    do { try keychain.createVault(with: credential, kdf: kdf, recovery: recovery) } catch { throw Failure(error, about: name) }
  }

  func check() throws {
    throw Failure.usage(
      "--check: the system's agent opens its vault itself",
      hint: "to prove a credential, and everything in the vault: coffer vault verify")
  }

  func unlock(startingAgentWith _: [String]) throws { try unlock() }

  func unlock(with credential: borrowing Credential) throws {
    try about(name) { try keychain.unlock(with: credential, ceiling: options.ceiling) }
  }

  /// Proves the owner, so that the agent serves the owner on this connection, and every program its own items from now on.
  private func unlock() throws { try withCredential { try keychain.unlock(with: $0, ceiling: options.ceiling) } }

  /// Runs `body` with a credential that opens the vault, again if a person has mistyped it.
  func withCredential<Result: ~Copyable>(_ body: (borrowing Credential) throws -> Result) throws -> Result {
    do {
      let kinds = Set(try keychain.vaultStatus().slots.map(\.type))
      return try options.withCredential(kinds, name, options.keyFile.map { try .openKeyFile($0) }, body)
    } catch let unsound as UnsoundVault {
      throw Failure.unsound(unsound.check, about: name)
    } catch {
      throw Failure(error, about: name)
    }
  }

  func agent() -> Keychain { keychain }

  // MARK: Slots

  func slots() throws -> [SlotDescription] {
    try about(name) { try keychain.vaultStatus().slots }
  }

  func report() throws -> VaultReport {
    let status = try about(name) { try keychain.vaultStatus() }
    return VaultReport(
      members: [
        ("path", .text(name)), ("id", .text(status.id.description)), ("created", .text(status.created.text)),
        ("generation", .natural(status.generation)), ("records", .natural(status.recordCount)),
        ("check", .text(status.checkCode)), ("proven", .boolean(false)),
        ("agent", .text("system, \(try keychain.stateText())")),
      ], slots: status.slots)
  }

  func addSlot(kdf: KDFParameters?, _ credential: () throws -> Credential) throws {
    try withCredential { proof in
      let limits = try opened(by: proof).limits
      try SlotAdd.checkRoom(beside: keychain.vaultStatus().slots)
      let credential = try credential()
      try keychain.addSlot(
        credential, kdf: options.cost(kdf, limits, of: credential.slotType), by: proof, ceiling: options.ceiling)
    }
  }

  func removeSlot(about subject: String, _ choose: (SlotDescription?, [SlotDescription]) throws -> SlotDescription) throws {
    try withCredential { proof in
      let slots = try keychain.vaultStatus().slots
      let slot = try choose(opened(by: proof).slot, slots)
      try CofferConsole.about(subject) { try keychain.removeSlot(slot.id, by: proof, ceiling: options.ceiling) }
    }
  }

  func replaceSlot(
    kdf: KDFParameters?, _ choose: (SlotDescription?, [SlotDescription]) throws -> SlotDescription,
    with credential: () throws -> Credential
  ) throws {
    try withCredential { proof in
      let (opened, limits) = try opened(by: proof)
      let old = try choose(opened, keychain.vaultStatus().slots)
      let credential = try credential()
      try keychain.replaceSlot(
        old.id, with: credential, kdf: options.cost(kdf, limits, of: credential.slotType), by: proof, ceiling: options.ceiling)
    }
  }

  func resealSlot(_ choose: (SlotDescription, Limits) throws -> KDFParameters) throws {
    try withCredential { proof in
      let (slot, limits) = try opened(by: proof)
      try keychain.replaceSlot(slot.id, with: proof, kdf: choose(slot, limits), by: proof, ceiling: options.ceiling)
    }
  }

  /// Proves the owner, too, before anything else is asked.
  private func opened(by proof: borrowing Credential) throws -> (slot: SlotDescription, limits: Limits) {
    let (slot, policy) = try keychain.openedSlot(by: proof, ceiling: options.ceiling, UpkeepShow())
    return (slot, policy?.limits ?? .replacingDamaged)
  }

  // MARK: Items and apps

  /// A named credential opens the vault for all programs, as `coffer vault unlock` does: the agent's vault cannot be open for one command.
  func agentItems(_ access: AccessOptions, asOwner: Bool) throws -> OpenItems? {
    guard access.application == nil else {
      throw Failure.usage("--as: the system's agent identifies the program itself", hint: "run the app's program")
    }
    guard !access.noAgent else { throw Failure.usage("--no-agent: only the system's agent opens its vault") }
    if try options.namesCredential || (asOwner || keychain.agentState() == .locked) && options.isAnybodyThere { try unlock() }
    return OpenItems(keychain, application: nil)
  }

  func apps(isReading: Bool) throws -> OpenApps {
    if isReading, !options.namesCredential, try keychain.agentState() == .unlocked {
      return OpenApps(keychain, isReadOnly: true)
    }
    try unlock()
    return OpenApps(keychain)
  }

  /// The system's agent asks no questions, so there are no agreements.
  func leases() -> [OpenLease] { [] }

  func agentLog(keepsCredential: Bool) throws -> AgentLog? {
    if options.namesCredential, !keepsCredential { try unlock() }
    guard try keychain.agentState() == .unlocked else {
      guard !keepsCredential else {
        throw Failure(
          .locked, "\(name): is locked", hint: options.system ? "coffer vault unlock --system" : "coffer vault unlock")
      }
      Descriptor.error.note("note: \(name) is locked: the log of its agent is not shown\n")
      return AgentLog(history: nil)
    }
    return AgentLog(history: try about("the audit log") { try keychain.auditHistory() })
  }

  func listedItems() throws -> [Entry] {
    try keychain.agentState() == .unlocked ? keychain.items(KeychainQuery()) : []
  }
}
