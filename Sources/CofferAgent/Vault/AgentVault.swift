import CLinux
import CofferFiles
package import CofferRequests
import CofferStorage
import Glibc
import Synchronization
package import VaultCore

/// The one vault that the agent has open, or has locked, which leaves it what `Vault.lock` leaves. Every use of it is within one
/// lock.
package final class AgentVault: @unchecked Sendable {
  package let path: String
  package let board = NoticeBoard()
  /// Proves a credential, and opens the vault for this one use.
  let open: @Sendable (borrowing Credential) throws -> Vault
  /// The state of the vault that can be read without a key, also while it is locked.
  let inspect: @Sendable () throws -> VaultStatus
  let threadLock = ThreadLock()
  var vault: Vault?
  /// Whether the file is changed as a whole: see `withoutClients`.
  var isInMaintenance = false
  var reopening = Reopening()
  private var locks: UInt64 = 0 { didSet { publish() } }
  /// Read for each request without the lock: `locks` times four, whether it was unlocked, and whether it is locked.
  private let published = Atomic<UInt64>(1)
  private var exemptions = ConfirmationExemptions()
  private var rules = PolicyEpoch()
  private var grantees = Grantees()
  private var quota: ProgramQuota?
  private let index = ItemIndex()
  private let foldTimer = FoldTimer()
  /// The generation that is known to be in the vault's file.
  private var foldedGeneration: UInt64 = 0
  /// The idle time of the vault's policy as it was last read; 0: none. Before the first time, the standard one.
  var idleMinutes = AgentVault.standardIdleMinutes
  package static let standardIdleMinutes: UInt64 = 15
  /// Milliseconds of a clock that only goes on.
  private(set) var lastUse: Int64 = 0
  private var lastAnchor: Int64 = 0
  /// When a search was told last to compare the vault with the anchor.
  private var lastComparison: Int64 = 0
  /// How old the anchor may be, in milliseconds: it is a file of its own, written and renamed each time.
  private static let anchorPeriod: Int64 = 100

  /// - Parameters:
  ///   - quota: The limits for items that programs add. nil: no limits.
  ///   - inspect: Reads the state of the vault. Called in any thread, as `open`.
  ///   - open: Proves a credential, and opens the vault.
  package init(
    at path: String, quota: ProgramQuota.Limits? = nil, inspect: @escaping @Sendable () throws -> VaultStatus,
    open: @escaping @Sendable (borrowing Credential) throws -> Vault
  ) {
    self.quota = quota.map { ProgramQuota($0) }
    self.path = path
    self.inspect = inspect
    self.open = open
  }

  var status: AgentStatus {
    let state = published.load(ordering: .acquiring)
    return AgentStatus(isLocked: state & 1 != 0, wasUnlocked: state & 2 != 0, vault: path)
  }

  /// The number of locks. A lock ends the owner's sessions.
  var lockCount: UInt64 { published.load(ordering: .acquiring) >> 2 }

  func publish() {
    published.store(locks << 2 | (vault == nil ? 0 : 2) | (isLocked ? 1 : 0), ordering: .releasing)
  }

  var isLocked: Bool { vault?.isLocked ?? true }

  /// Proves the credential, even if the vault is open: its holder is the owner. The vault is opened outside of the lock, so that
  /// others go on meanwhile. A client has derived the key itself; only a credential of the agent's service is derived here.
  /// - Parameter proven: Called when the credential was proven. If it throws, nothing changes.
  /// - Returns: How often it was locked until then.
  /// - Throws: `VaultError`, `StorageError`; what `proven` throws.
  @discardableResult package func unlock(
    _ credential: borrowing Credential, proven: () throws -> Void = {}
  ) throws -> UInt64 {
    // Closes the old file if another one has replaced it: two connections to two files under one name would use one log.
    try threadLock.withLock {
      try checkServes()
      _ = vault?.fold()
    }
    let opened = try open(credential)
    try proven()
    return try put(opened)
  }

  /// From now on it is this one. Also if one is open, `unlocked` is told: watchers may have marked something as locked until then.
  /// - Returns: As `unlock`.
  /// - Throws: `storage` with the cause `maintenance`.
  func put(_ vault: consuming Vault) throws -> UInt64 {
    var vault: Vault? = consume vault
    return try threadLock.withLock {
      try checkServes()
      lookForNewKeys()
      board.tell(.unlocked)
      swap(&self.vault, &vault)
      reopening.isDue = false
      publish()
      lastUse = Self.clock()
      // The cached rules are of another file, or of the same file before it was put back to an earlier state.
      rules.restart()
      exemptions = ConfirmationExemptions()
      index.clear()
      idleMinutes = Self.standardIdleMinutes
      quota = quota.map { ProgramQuota($0.limits) }
      if vault == nil { board.begin(atGeneration: self.vault?.lastGeneration ?? 0) }
      tell([])
      return locks
    }
  }

  /// Whether something was granted to a program by this name. False if that cannot be read.
  func hasGrant(to name: String) -> Bool {
    threadLock.withLock {
      guard vault != nil, let generation = try? vault!.generation() else { return false }
      return grantees.contain(name, in: vault!, at: rules.count(at: generation))
    }
  }

  /// For requests that are not about items.
  /// - Throws: `KeychainError`: `locked`; what `body` throws.
  func use<Result: ~Copyable>(_ body: (inout Vault) throws -> Result) throws -> Result {
    defer { reopen() }
    return try threadLock.withLock {
      try checkServes()
      guard !isLocked else { throw KeychainError(.locked) }
      lastUse = Self.clock()
      defer { tell([]) }
      defer { settle() }
      return try body(&vault!)
    }
  }

  func forget() {
    guard vault != nil else { return }
    if !status.isLocked { board.tell(.locked) }
    vault!.lock()
    index.clear()
    locks += 1
    tell([])
    // A reader in another process may keep the log.
    armFold()
  }

  private func armFold() { foldTimer.arm { [weak self] in self?.fold() ?? true } }

  /// - Returns: Whether the vault's file alone is the vault.
  private func fold() -> Bool {
    threadLock.withLock {
      guard vault != nil else { return true }
      let generation = lastGeneration
      guard vault!.fold() else { return false }
      foldedGeneration = generation
      // Files that could not be closed at the lock can be closed now.
      if isLocked { vault!.rest() }
      return true
    }
  }

  /// After each answer.
  private func settle() {
    guard vault != nil, !noticeNewKeys() else { return }
    if lastGeneration != foldedGeneration { armFold() }
    // A locked vault can be copied at any time.
    guard !isLocked else { return vault!.rest() }
    guard case let now = Self.clock(), now - lastAnchor >= Self.anchorPeriod else { return }
    lastAnchor = now
    vault!.saveAnchor()
  }

  /// - Parameter notices: The changes made here. Changes by others since the last call are delivered as well.
  private func tell(_ notices: [Notice]) {
    if let generation = vault?.lastGeneration { board.tell(notices, generation: generation) }
  }

  /// The limit of questions for one request: two if an item moves to another group, and each again if it has changed.
  private static let maximumQuestions = 4

  /// - Parameters:
  ///   - byteCount: The length of the request as it was sent.
  ///   - isUse: False for a program that asks without a person: it keeps the vault from no lock.
  ///   - caller: In whose name. Told for which state of the rules: see `PolicyEpoch`.
  ///   - confirm: Asks the owner, while others use the vault; gets the number of locks. The rights are checked again afterwards.
  ///   - allowed: Called before what was asked is given out or committed, when the rights to it have been checked; with the item
  ///     that is new. If it throws, that error is thrown, and nothing is done.
  /// - Throws: `KeychainError`: `locked` if it was never unlocked, `conflict`; errors of `ItemService` and of the closures.
  package func answer(
    _ request: consuming ItemRequest, byteCount: Int = 0, isUse: Bool = true,
    as caller: (borrowing Vault, _ rules: UInt64) throws -> Caller,
    confirm: (Confirmation, UInt64) throws -> Void = AgentVault.nobody, allowed: (Reference?) throws -> Void = { _ in }
  ) throws -> Answer {
    defer { reopen() }
    let (intention, group, isReading) = (request.intention, request.subject.group, request.kind.traits.effect == .reads)
    var request: ItemRequest? = consume request
    var confirmed: [Confirmation] = []
    var seenLockCount: UInt64 = 0
    for _ in 0...Self.maximumQuestions {
      var needed: Confirmation?
      let answer: Answer? = try threadLock.withLock {
        try checkServes()
        guard vault != nil else { throw KeychainError(.locked) }
        var notices: [Notice] = []
        // Also where it is refused: others may have changed something.
        defer {
          tell(notices)
          settle()
        }
        if locks != seenLockCount { (confirmed, seenLockCount) = ([], locks) }
        let now = Self.clock()
        if isUse { lastUse = now }
        if now - lastComparison >= Self.anchorPeriod { (lastComparison, index.comparesAnchor) = (now, true) }
        if let reading = ItemRequest.reading(request!), let answer = read(reading, caller, confirmed) { return answer }
        // A grant may have been revoked.
        let service = try service(caller, rules.count(at: vault!.generation()))
        needed = try service.confirmations(for: request!, in: vault!).first { !confirmed.contains($0) }
        guard needed == nil, let request = request.take() else { return nil }
        let before = lastGeneration
        let change = try quota?.check(request, byteCount: byteCount, of: service, in: vault!)
        let answer = try service.carryOut(request, in: &vault!, allowed: allowed)
        rules.itemsChanged(from: before, to: lastGeneration)
        if let change { quota?.follow(change, to: answer.newReference?.group ?? group, from: before, to: lastGeneration) }
        notices = intention.notices(answer.newReference)
        index.follow(notices, from: before, to: lastGeneration)
        return answer
      }
      if let answer {
        if isReading { try allowed(nil) }
        return answer
      }
      guard let needed else { break }
      try confirm(needed, seenLockCount)
      confirmed.append(needed)
    }
    throw KeychainError(.conflict, "the item or its rules have changed since the owner was asked")
  }

  /// Carries out a request that only reads, with the rights as they were found last.
  /// - Returns: Nil if the generation has changed since: then the rights are read again.
  private func read(
    _ request: consuming ItemRequest, _ caller: (borrowing Vault, _ rules: UInt64) throws -> Caller, _ confirmed: [Confirmation]
  ) -> Answer? {
    let seen = lastGeneration
    do {
      let service = try service(caller, rules.count(at: seen))
      let secret = request.secretReference
      if let secret, exemptions.holds(secret, at: seen), !service.asks(aboutReading: secret.group) {
        // At this generation, neither the item nor its group needs a confirmation.
      } else {
        let needed = try service.confirmations(for: request, in: vault!)
        guard needed.allSatisfy(confirmed.contains) else { return nil }
        if let secret, needed.isEmpty, lastGeneration == seen { exemptions.insert(secret, at: seen) }
      }
      let answer = try service.carryOut(request, in: &vault!)
      guard lastGeneration == seen else { return nil }
      return answer
    } catch {
      // May be a right that was given meanwhile.
      return nil
    }
  }

  private func service(_ caller: (borrowing Vault, _ rules: UInt64) throws -> Caller, _ rules: UInt64) throws -> ItemService {
    ItemService(try caller(vault!, rules), at: Timestamp(secondsSince1970: Int64(time(nil))), index: index)
  }

  private var lastGeneration: UInt64 { vault?.lastGeneration ?? 0 }

  // MARK: Watching

  /// The part of the notices that the watching client may receive now.
  /// - Throws: what `caller` throws.
  func visible(
    _ notices: [Notice], _ filter: inout NoticeFilter, as caller: (borrowing Vault) throws -> Caller
  ) throws -> [Notice] {
    try threadLock.withLock {
      defer { tell([]) }
      return try filter.visible(notices) {
        guard vault != nil else { throw KeychainError(.locked) }
        return try caller(vault!)
      }
    }
  }

  /// Saves the anchor, and compares the generation. Does not count as a use of the vault.
  package func look() {
    defer { reopen() }
    threadLock.withLock {
      // A locked vault has closed its file, and keeps it closed.
      guard !isLocked else { return }
      vault!.saveAnchor()
      let isReadable = (try? vault!.generation()) != nil
      if !noticeNewKeys(), isReadable { tell([]) }
    }
  }
}
