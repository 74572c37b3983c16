internal import AccessRights
package import CofferStorage
package import SecretMemory
internal import VaultCore
internal import VaultUpkeep

/// Why a keychain refused. One code for each cause; the detail never holds a secret.
public struct KeychainError: Error, Equatable, Sendable, CustomStringConvertible {
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// All codes, for an exhaustive `switch`. `Code` itself is a struct so that `catch KeychainError.Code.locked` compiles.
    package enum Kind: String, CaseIterable, Sendable {
      case locked, missingEntitlement, confirmationNeeded, confirmationRefused, notFound, duplicate
      case appNotInstalled, wrongCredential, otherDevice, notAllowed, noVault, integrity, conflict, agent
      case agentNotAnswering, busy, quotaExceeded, full, storage, inDoubt, memory, newerFormat, masterKeyChanged
    }

    package let kind: Kind
    package init(_ kind: Kind) { self.kind = kind }
    public var name: String { kind.rawValue }
    public var description: String { name }
  }

  public let code: Code
  /// For people: what it concerns. Not compared.
  public let detail: String
  package let cause: Cause

  /// The reason in finer terms than the code, for words and hints.
  package enum Cause: Hashable, Sendable {
    /// Nothing more is known than the code.
    case code
    case vault(VaultError.Code)
    case storage(StorageError.Code)
    /// The name of a code of `AppsError`, which is declared in a module above this one.
    case apps(String)
    /// Likewise, of `FileError`.
    case containers(String)
    /// Likewise, of `LifecycleError`.
    case lifecycle(String)
    /// The agent's gate refused the program, before the vault was asked.
    case gate
    /// The gate of a system agent: no process of its user can open the vault in another way.
    case systemGate
    /// The command may not use a group because it belongs to a team.
    case groupOfTeam
    /// No agent listens: it does not run, or cannot be reached any more.
    case absentAgent
    /// The agent cannot write its audit log.
    case auditLog
  }

  public init(_ code: Code, _ detail: String = "") { self.init(code, cause: .code, detail) }

  package init(_ code: Code, cause: Cause, _ detail: String = "") {
    self.code = code
    self.cause = cause
    self.detail = detail
  }

  /// The name of the cause; the code's if the cause is `code`.
  package var causeName: String {
    switch cause {
    case .code: code.name
    case .vault(let code): code.name
    case .storage(let code): code.name
    case .apps(let name), .containers(let name), .lifecycle(let name): name
    case .gate: "gate"
    case .systemGate: "systemGate"
    case .groupOfTeam: "groupOfTeam"
    case .absentAgent: "absent"
    case .auditLog: "auditLog"
    }
  }

  public var description: String {
    [code.name, causeName == code.name ? "" : causeName, detail].filter { !$0.isEmpty }.joined(separator: ": ")
  }

  public static func == (left: KeychainError, right: KeychainError) -> Bool { left.code == right.code }
  /// Allows `catch KeychainError.Code.locked`.
  public static func ~= (code: Code, error: KeychainError) -> Bool { code == error.code }
}

extension KeychainError.Code {
  /// The keychain was never unlocked, or it is locked and this takes a key that it has forgotten. Never "not found", and without a
  /// question.
  public static let locked = Self(.locked)
  /// A group that the caller does not hold, or a right that it has not. Apple's `errSecMissingEntitlement`.
  public static let missingEntitlement = Self(.missingEntitlement)
  /// The owner wants to be asked before this, and cannot be asked here, or has not answered. Apple's
  /// `errSecInteractionNotAllowed`.
  public static let confirmationNeeded = Self(.confirmationNeeded)
  /// The owner was asked, and said no. Apple's `errSecUserCanceled`.
  public static let confirmationRefused = Self(.confirmationRefused)
  /// Apple's `errSecItemNotFound`.
  public static let notFound = Self(.notFound)
  /// Apple's `errSecDuplicateItem`.
  public static let duplicate = Self(.duplicate)
  /// The app is not installed in this vault.
  public static let appNotInstalled = Self(.appNotInstalled)
  /// Neither a passphrase nor a key file that opens this vault.
  public static let wrongCredential = Self(.wrongCredential)
  /// The item was sealed for another device, or the device's key is gone.
  public static let otherDevice = Self(.otherDevice)
  /// An attribute, a name or a secret that cannot be stored.
  public static let notAllowed = Self(.notAllowed)
  /// The vault has a new master key, and the keys that were open are forgotten: it is to be opened again.
  public static let masterKeyChanged = Self(.masterKeyChanged)
  /// There is no vault.
  public static let noVault = Self(.noVault)
  /// The vault was changed without its key, or is damaged, or an older copy was put in its place.
  public static let integrity = Self(.integrity)
  /// The item was changed by another program in between.
  public static let conflict = Self(.conflict)
  /// The agent cannot be reached, has ended, or does not speak this protocol.
  public static let agent = Self(.agent)
  /// The agent takes no requests: it was stopped (SIGSTOP), or hangs. If it goes on, it may still do what was asked.
  public static let agentNotAnswering = Self(.agentNotAnswering)
  /// Another process did not let go of the vault in time. Nothing was changed.
  public static let busy = Self(.busy)
  /// The program's groups in a vault of the system's hold as much as programs may add. The owner is not limited. Nothing was
  /// changed.
  public static let quotaExceeded = Self(.quotaExceeded)
  /// The disk is full. Nothing was changed.
  public static let full = Self(.full)
  /// The vault's file cannot be used: rights, owner, links, or the system said no.
  public static let storage = Self(.storage)
  /// The call failed in the middle of a commit: whether the change was made tells the next look.
  public static let inDoubt = Self(.inDoubt)
  /// Locked memory, or memory at all, could not be had.
  public static let memory = Self(.memory)
  /// The vault was written by a newer version.
  public static let newerFormat = Self(.newerFormat)

  public static func ~= (code: Self, error: any Error) -> Bool { (error as? KeychainError)?.code == code }
}

extension KeychainError.Code {
  /// Whether it says "you may not", and not how things are. Such an answer is a decision, for the audit log.
  package var isRefusal: Bool {
    switch kind {
    case .missingEntitlement, .appNotInstalled, .wrongCredential, .confirmationNeeded, .confirmationRefused, .quotaExceeded: true
    case .locked, .notFound, .duplicate, .otherDevice, .notAllowed, .noVault, .integrity, .conflict, .agent, .agentNotAnswering,
      .busy, .full, .storage, .inDoubt, .memory, .newerFormat, .masterKeyChanged:
      false
    }
  }
}

extension KeychainError {
  private static let vaultCodes: [VaultError.Code: Code] = [
    .locked: .locked, .masterKeyChanged: .masterKeyChanged, .missingEntitlement: .missingEntitlement, .notFound: .notFound,
    .versionNotFound: .notFound,
    .groupNotFound: .notFound, .limitOutOfRange: .notAllowed,
    .duplicate: .duplicate, .appNotInstalled: .appNotInstalled, .wrongCredential: .wrongCredential, .noSuchSlot: .wrongCredential,
    .passphraseNotText: .wrongCredential, .passphraseLength: .wrongCredential, .keyFileLength: .wrongCredential,
    .recoveryKeyMalformed: .wrongCredential, .deviceKeyMissing: .otherDevice, .wrongDeviceKey: .otherDevice,
    .passphraseSlotMissing: .notAllowed, .secretTooLarge: .notAllowed, .attributeNotAllowed: .notAllowed,
    .nameNotAllowed: .notAllowed, .nameTooLong: .notAllowed, .vaultFull: .full, .memoryNotLockable: .memory,
    .outOfMemory: .memory, .randomNotAvailable: .memory, .newerFormat: .newerFormat, .unknownIncompatibleFlag: .newerFormat,
    .unknownReadOnlyFlag: .newerFormat, .kdfAboveCeiling: .notAllowed, .groupExists: .duplicate, .groupRequired: .notAllowed,
    .groupNotEmpty: .notAllowed, .groupGranted: .notAllowed, .groupOfTeam: .missingEntitlement, .groupChanged: .conflict,
    .nothingKept: .notAllowed,
  ]
  private static let storageCodes: [StorageError.Code: Code] = [
    .noVault: .noVault, .noHome: .noVault, .busy: .busy, .full: .full, .inDoubt: .inDoubt, .newerFormat: .newerFormat,
    .notAVault: .integrity, .storageDamaged: .integrity, .schemaAltered: .integrity, .columnMismatch: .integrity,
    .replaced: .integrity, .truncated: .integrity, .logWithoutVault: .integrity, .outOfMemory: .memory,
  ]

  /// Everything that the core throws and is not in the table tells of a vault that is not what its keys say.
  package init(_ error: any Error) {
    switch error {
    case let error as KeychainError: self = error
    case let error as VaultError:
      self.init(Self.vaultCodes[error.code] ?? .integrity, cause: .vault(error.code), error.detail)
    case let error as StorageError:
      self.init(Self.storageCodes[error.code] ?? .storage, cause: .storage(error.code), error.detail)
    default: self.init(.storage, "\(error)")
    }
  }

  /// Whether the record of one item is damaged, which leaves the others as they are.
  package var concernsOneRecord: Bool {
    guard code == .integrity, case .vault(let code) = cause else { return false }
    return code.concernsOneRecord
  }

  /// Whether the group does not exist, as opposed to an item in it.
  package var concernsGroup: Bool { cause == .vault(.groupNotFound) }
}
