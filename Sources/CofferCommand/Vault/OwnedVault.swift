import Coffer
import CofferAudit
import CofferConsole
import CofferLifecycle
import CofferWire
import SecretMemory
import VaultCore
import VaultUpkeep

/// The vault that the options name, as its owner uses it: a file that this process opens, or the vault that the system agent keeps. Each
/// difference between the two is a requirement here, so no command asks which of them it has.
///
/// A method that changes the vault proves the owner first, and evaluates its closures afterwards: a wrong passphrase is told before a new one
/// is asked for.
protocol OwnedVault {
  /// For messages: the path, or that it is the system's.
  var name: String { get throws }

  // MARK: Making and unlocking

  /// Called before a passphrase is asked for.
  /// - Throws: duplicate; input/output if a directory that the caller named is missing.
  func checkIsFree() throws

  /// Makes it.
  /// - Parameter recovery: The text of a recovery key that opens it too; empty: none.
  func create(with credential: borrowing Credential, kdf: KDFParameters, recovery: consuming Secret) throws

  /// Proves a credential, and opens nothing for others.
  func check() throws

  /// Opens it in its agent.
  /// - Parameter options: The options of `cofferd`, if it is started for this.
  func unlock(startingAgentWith options: [String]) throws

  /// Opens it in its agent, which is started if none runs.
  func unlock(with credential: borrowing Credential) throws

  /// Its agent, which may not run.
  func agent() throws -> Keychain

  // MARK: Slots

  /// The slots as the file lists them; nothing is proven.
  func slots() throws -> [SlotDescription]

  /// Opens the file if the options name a credential.
  func report() throws -> VaultReport

  /// - Parameter kdf: nil: as the vault's policy says.
  func addSlot(kdf: KDFParameters?, _ credential: () throws -> Credential) throws

  /// - Parameters:
  ///   - subject: Named by an error.
  ///   - choose: Gets the slot that opened the vault, nil if it is not known, and all slots.
  func removeSlot(about subject: String, _ choose: (SlotDescription?, [SlotDescription]) throws -> SlotDescription) throws

  /// - Parameter choose: Gets the slot that opened the vault, nil if it is not known, and all slots.
  func replaceSlot(
    kdf: KDFParameters?, _ choose: (SlotDescription?, [SlotDescription]) throws -> SlotDescription,
    with credential: () throws -> Credential) throws

  /// Seals the slot that the credential opens anew, under the same credential.
  /// - Parameter choose: Gets that slot and the vault's policy, and returns its new parameters.
  func resealSlot(_ choose: (SlotDescription, Limits) throws -> KDFParameters) throws

  // MARK: Upkeep

  /// The limits of the policy, after some of them were set.
  /// - Parameter changes: None: the policy is only read.
  func policy(setting changes: [Limits.Name: UInt64]) throws -> VaultPolicyReport

  /// Proves and opens everything in the vault; a rollback is reported, and not refused. Progress is shown.
  func verify() throws -> VaultCheck

  /// Accepts the vault as it is now.
  /// - Parameter confirm: Called with the rollback before. If it throws, nothing is changed.
  /// - Returns: The rollback that was accepted; nil if there was none.
  func acceptRollback(_ confirm: (VaultCheck.Rollback) throws -> Void) throws -> VaultCheck.Rollback?

  /// - Throws: integrity, if the vault is an older state than the one last seen here, according to what is not proven, or if no state can
  ///   be recorded.
  func checkAge() throws

  /// Copies the vault, while others write.
  /// - Parameter file: A new file, or `-` for standard output; nil: in the directory of backups.
  func backUp(to file: String?, isVerified: Bool) throws -> VaultBackupReport

  /// Returns nil if there is no vault, or if it cannot be read, which a note says.
  func backupState() throws -> BackupState?

  /// Puts a backup in the place of the vault, after a yes to each plan that is shown.
  /// - Parameters:
  ///   - file: nil: the newest backup.
  ///   - isTrial: Whether the backup is only compared.
  func restore(_ file: String?, isTrial: Bool, _ dialogue: RestoreDialogue) throws -> RestoreAnswer

  /// Keeps what is sound of a damaged vault, after a yes to the plan that is shown.
  /// - Parameter from: A backup, from which lost records are taken.
  /// - Returns: nil if nothing was done, because the vault is sound or this is a trial.
  func repair(from: String?, acceptsUnproven: Bool, isTrial: Bool, _ dialogue: RepairDialogue) throws -> RepairOutcome?

  /// Makes new keys, after a yes to the plan.
  func rotate(_ dialogue: RotationDialogue) throws -> RotationOutcome

  // MARK: Items and apps

  /// The agent's items. Returns nil if the command is to open the vault itself.
  /// - Parameter asOwner: Whether only the owner may do what follows in the vault that the system agent keeps: a person is asked for a
  ///   credential there, even if the vault is open.
  func agentItems(_ access: AccessOptions, asOwner: Bool) throws -> OpenItems?

  /// The records about apps.
  /// - Parameter isReading: Whether an agent that is unlocked may answer, which asks for no credential then.
  func apps(isReading: Bool) throws -> OpenApps

  /// The leases that hold.
  func leases() throws -> [OpenLease]

  /// The log of its agent, if that is not the user's own log. A note says if it cannot be read.
  /// - Parameter keepsCredential: Whether the credential that is named has to be left for later, because it can be read once. Then a locked
  ///   vault is an error.
  func agentLog(keepsCredential: Bool) throws -> AgentLog?

  /// The items that the caller may list without being asked for anything; none if the vault cannot be read so. Called after `agentLog`,
  /// which may have used the credential.
  func listedItems() throws -> [Entry]
}

/// The part of the person in a restore.
struct RestoreDialogue {
  /// Shows what was found, and fails if it is not what the options accept.
  let show: (RestoreFindings) throws -> Void
  /// - Throws: `cancelled`.
  let ask: () throws -> Void
}

/// The part of the person in a repair.
struct RepairDialogue {
  let show: (RepairPlan) throws -> Void
  /// - Throws: `cancelled`.
  let ask: () throws -> Void
}

/// The members of `coffer vault status`, in their order.
struct VaultReport {
  let members: [(String, JSON)]
  let slots: [SlotDescription]
}

/// A log that an agent keeps for itself.
struct AgentLog {
  /// nil if it cannot be read, or there is none yet.
  let history: AuditHistory?
}

extension OwnedVault {
  func agentItems(_ access: AccessOptions) throws -> OpenItems? { try agentItems(access, asOwner: false) }
}

extension VaultOptions {
  /// Opens no file.
  func ownedVault() throws -> any OwnedVault {
    if let keychain = try systemAgent() { return SystemVault(options: self, keychain: keychain) }
    return FileVault(options: self)
  }
}
