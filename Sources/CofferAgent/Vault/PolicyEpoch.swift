import AccessRights
import CofferRequests
import VaultCore

/// Tells states of the rules about apps apart: what is installed, pinned and granted. A generation of the vault stands for one
/// state, and those that only change items, as the agent knows of its own, leave it as it is.
struct PolicyEpoch {
  private var generation: UInt64 = 0
  private var count: UInt64 = 0

  /// - Parameter generation: The vault's, as it was seen last.
  mutating func count(at generation: UInt64) -> UInt64 {
    if generation != self.generation { (self.generation, count) = (generation, count + 1) }
    return count
  }

  /// Items were changed here.
  /// - Parameters:
  ///   - before: The generation that was seen last before.
  ///   - after: The one that came of it. If it is not the next one, another process has changed something in between.
  mutating func itemsChanged(from before: UInt64, to after: UInt64) {
    if before == generation, after == before + 1 { generation = after }
  }

  /// It is another vault, or another state of the same one.
  mutating func restart() { (generation, count) = (0, count + 1) }
}

/// The programs to which something was granted, for one state of the rules.
struct Grantees {
  private var rules: UInt64 = 0
  private var names: Set<String> = []

  /// - Parameter rules: As `PolicyEpoch` has it.
  /// - Returns: False also if the grants cannot be read.
  mutating func contain(_ name: String, in vault: borrowing Vault, at rules: UInt64) -> Bool {
    if rules != self.rules {
      guard let grants = try? vault.grants() else { return false }
      (self.rules, names) = (rules, Set(grants.map(\.application)))
    }
    return names.contains(name)
  }
}

/// The caller that a connection was identified as, valid until the rules change. Proving a manifest, a pin and the grants
/// takes longer than the rest of an answer. For one thread.
final class CallerCache {
  private var known: (program: ProgramIdentity?, rules: UInt64, isLocked: Bool, caller: Caller)?

  /// - Parameters:
  ///   - program: Nil: the owner.
  ///   - rules: As `PolicyEpoch` has it, for the vault as it was seen last.
  func caller(
    _ program: ProgramIdentity?, in vault: borrowing Vault, at rules: UInt64, _ find: (borrowing Vault) throws -> Caller
  ) throws -> Caller {
    if let known, known.program == program, known.rules == rules, known.isLocked == vault.isLocked { return known.caller }
    known = nil
    let generation = vault.lastGeneration
    let caller = try find(vault)
    // Another process may have written between the two reads.
    if vault.lastGeneration == generation { known = (program, rules, vault.isLocked, caller) }
    return caller
  }
}

/// Items of one generation of the vault that do not want the owner to be asked, as a look at each has shown. For one thread.
struct ConfirmationExemptions {
  private static let maximumCount = 4096

  private var generation: UInt64 = 0
  private var references: Set<Reference> = []

  func holds(_ reference: Reference, at generation: UInt64) -> Bool {
    generation == self.generation && references.contains(reference)
  }

  mutating func insert(_ reference: Reference, at generation: UInt64) {
    if generation != self.generation || references.count >= Self.maximumCount { references = [] }
    self.generation = generation
    references.insert(reference)
  }
}

extension ItemRequest {
  /// The item whose secret is read.
  var secretReference: Reference? {
    borrowing get {
      switch self {
      case .secret(let reference, purpose: _): reference
      default: nil
      }
    }
  }
}
