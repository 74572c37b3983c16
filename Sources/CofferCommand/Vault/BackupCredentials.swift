import ArgumentParser
import Coffer
import CofferConsole
import CofferRequests
import SecretMemory
import VaultCore

/// Credentials for a backup that the agent has copied in, each derived for one slot after the other: first the one that opens the vault, and
/// then what a person types.
final class BackupCredentials {
  /// For `CredentialAttempts`.
  static let subject = " of the backup"

  private let options: VaultOptions
  private let name: String
  private let keyFile: Descriptor?
  private let hasProof: Bool
  private var current: Credential?
  /// The slots for which the current one was not derived yet; nil before the first.
  private var left: [SlotDescription]?
  private var attempts: CredentialAttempts?

  /// - Parameter proof: A credential that opens the vault; nil: the options are about the backup.
  init(_ options: VaultOptions, _ name: String, proof: consuming Credential?, _ keyFile: Descriptor?) throws {
    hasProof = proof != nil
    (self.name, self.keyFile) = (name, keyFile)
    guard hasProof else {
      self.options = options
      return
    }
    current = proof
    // A descriptor and a key file were read for the vault.
    var others = try VaultOptions.parse([])
    (others.noInput, others.allowExpensiveKDF) = (options.noInput, options.allowExpensiveKDF)
    self.options = others
  }

  /// The credential before, if there was one, has not opened the backup.
  /// - Throws: `wrongCredential`; `locked` if there is no person to ask; `kdfAboveCeiling`.
  func next(for slots: [SlotDescription]) throws -> Credential {
    var problem = VaultError(.wrongCredential)
    while true {
      if let derived = try derived(slots, &problem) { return derived }
      try ask(slots, after: problem)
    }
  }

  /// nil if it was derived for each slot.
  private func derived(_ slots: [SlotDescription], _ problem: inout VaultError) throws -> Credential? {
    guard let type = current.slotType else { return nil }
    var left = left ?? slots.filter { $0.type == type }
    defer { self.left = left }
    while !left.isEmpty {
      let slot = left.removeFirst()
      do { return try current.derived(for: slot, options.ceiling) } catch let error as KeychainError {
        guard Keychain.isTooExpensive(error), case .vault(let code) = error.cause else { throw error }
        problem = VaultError(code, error.detail)
      }
    }
    return nil
  }

  private func ask(_ slots: [SlotDescription], after problem: VaultError) throws {
    let isFirst = attempts == nil
    if isFirst {
      attempts = try CredentialAttempts(
        options, Set(slots.map(\.type)), name, keyFile, asking: Self.subject)
    } else {
      try attempts!.failed(problem)
    }
    left = nil
    while true {
      do {
        current = try attempts!.next()
        return
      } catch {
        guard hasProof, isFirst, Failure(error).status == .locked else {
          try attempts!.failed(error)
          continue
        }
        throw Failure(
          .locked, "\(name): does not open with the credential of the vault, and another one cannot be asked for here",
          hint: "restore it at a terminal")
      }
    }
  }
}

extension Credential? {
  fileprivate var slotType: SlotType? {
    borrowing get {
      switch self {
      case .some(let credential): credential.slotType
      case .none: nil
      }
    }
  }

  fileprivate borrowing func derived(for slot: SlotDescription, _ ceiling: KDFCeiling) throws -> Credential? {
    switch self {
    case .some(let credential): try Keychain.derived(credential, slot, ceiling)
    case .none: nil
    }
  }
}
