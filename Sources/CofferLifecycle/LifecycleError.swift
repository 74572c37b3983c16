/// Why an operation on a whole vault was refused. One code for each cause; the detail names what it concerns, and never holds a secret.
package struct LifecycleError: Error, Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    /// Something is at the path of the backup already.
    case backupExists
    /// The file that is named is the vault itself.
    case isTheVault
    /// The name of the backup is that of a file which the vault has beside it.
    case nameOfTheVaults
    /// The directory of the backup is not there.
    case directoryMissing
    /// No file is named, and there is none to take.
    case noBackup
    /// No file is named, and there are only those that were made because their content was to be replaced.
    case onlyReplacedStates
    /// No file is named, and there are only those of other vaults than the one that is at the path.
    case onlyOtherVaults
    /// No file is named, and times and generations of the backups disagree which one is the newest.
    case backupOrderUnclear
    /// The vault has fewer records than its header says.
    case recordsMissing
    /// Changes of the backup lie in a log beside it, which is not copied in.
    case hasLog
    /// The backup is of another vault than the one that is, or was, at the path.
    case otherVault
    /// An agent has the vault open, and the backup does not continue what the agent has seen.
    case agentHasVault
    /// Other processes write, so that a backup of what is here never was that.
    case changedMeanwhile
    /// The policy cannot be sealed under new keys.
    case policyDamaged
    /// The slot that opened the vault is to be left out.
    case openedSlotDropped
    /// Items of this device only do not open here, so they cannot be sealed anew.
    case itemsOfOtherDevices
    /// A credential that was given for a slot is not the one that opens it.
    case otherCredential
  }

  package let code: Code
  /// For people. Not compared.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") { (self.code, self.detail) = (code, detail) }

  package static func == (left: Self, right: Self) -> Bool { left.code == right.code }
  /// Matches `catch LifecycleError(.noBackup)`.
  package static func ~= (pattern: Self, error: any Error) -> Bool { (error as? Self) == pattern }
}
