package import CofferFiles
import CofferStorage
import Glibc
package import VaultCore
import VaultUpkeep

extension Restoration {
  /// The result of a restore.
  package struct Outcome: Equatable, Sendable {
    package let way: Way
    /// The generation of the vault now.
    package let generation: UInt64
    /// The backup of the vault as it was, or the directory with its files.
    package let kept: String?
    /// Why the anchor could not be written. The next program to open the vault does so.
    package let anchorFailure: String?

    package init(way: Way, generation: UInt64, kept: String?, anchorFailure: String?) {
      (self.way, self.generation, self.kept, self.anchorFailure) = (way, generation, kept, anchorFailure)
    }
  }

  /// Runs the change of a vault while no program has it open.
  package typealias Exclusion = (Way, () throws -> Outcome) throws -> Outcome

  /// How many plans are made because others write meanwhile.
  private static let attempts = 10
  /// An agent that is about to end is waited for.
  private static let patience: Duration = .seconds(2)

  /// Whether another process must not have the vault open: a state that does not continue the one that it has seen.
  package static func excludesAgent(_ way: Way) -> Bool { way != .continuing && way != .nothing }

  /// Makes a backup of what is here, and then changes it, if the plan was agreed to and still holds.
  /// - Parameter agree: Gets the plan that was made last, and each one that takes its place because the vault was changed meanwhile or
  ///   turned out to be damaged. If it throws, nothing is changed.
  /// - Throws: `LifecycleError`: `agentHasVault`, `changedMeanwhile` after ten plans; `StorageError`: `maintenance`; `inDoubt` if it cannot
  ///   be told whether the vault was changed; after any other error it is as it was. The errors of `step` and of `agree`.
  package func carryOut(
    now: Timestamp, step: @escaping Backup.Step, agree: (Plan) throws -> Void = { _ in }
  ) throws -> Outcome {
    var plan = try planned?.plan ?? plan(step: step)
    for _ in 0..<Self.attempts {
      // Before a question that would be asked for nothing.
      guard try !agentHasVault(plan.way, until: Deadline(after: Self.patience)) else {
        throw LifecycleError(.agentHasVault, place.vault)
      }
      try agree(plan)
      do {
        let lock = try lock ?? MaintenanceLock(forVaultAt: place.vault)
        defer { withExtendedLifetime(lock) {} }
        return try exclusion(plan.way) { try carryOutAgreed(now, step) }
      } catch let outdated as Outdated {
        plan = try outdated.plan ?? self.plan(step: step)
      }
    }
    throw LifecycleError(.changedMeanwhile, place.vault)
  }

  private func carryOutAgreed(_ now: Timestamp, _ step: @escaping Backup.Step) throws -> Outcome {
    guard let (plan, state) = planned else { throw Outdated() }
    switch state {
    case .files:
      guard try fileState() == state else { throw Outdated() }
      return try create(plan.way, now, step)
    case .vault(let header):
      do {
        let present = try FileStore(at: place.vault)
        guard try present.read({ try $0.header(0) }) == header else { throw Outdated() }
        guard plan.way != .nothing else {
          return Outcome(way: .nothing, generation: try generation(), kept: nil, anchorFailure: nil)
        }
        return try replace(present, at: header, plan.way, now, step)
      } catch let error as StorageError where Self.isDamage(error) {
        // The rows that are here cannot be copied. The files can be kept.
        throw Outdated(plan: try planExchange(because: error))
      }
    }
  }

  /// Whether `carryOut` would fail, because another process must not have the vault open, and an agent has.
  package func agentHasVault(_ way: Way, until deadline: Deadline = Deadline(after: .zero)) throws -> Bool {
    guard excluding == nil, Self.excludesAgent(way) else { return false }
    return try !AgentLock.isFree(place.agentLock, until: deadline)
  }

  /// Waits for an agent that is about to end.
  /// - Throws: `agentHasVault`.
  func takeAgentLock() throws -> AgentLock {
    let deadline = Deadline(after: Self.patience)
    while true {
      do {
        return try AgentLock(at: place.agentLock)
      } catch {
        guard error.code == .busy else { throw error }
        guard !deadline.hasPassed else { throw LifecycleError(.agentHasVault, place.vault) }
        usleep(20_000)
      }
    }
  }

  // MARK: A vault that can be read

  private func replace(
    _ present: FileStore, at header: [UInt8], _ way: Way, _ now: Timestamp, _ step: @escaping Backup.Step
  ) throws -> Outcome {
    let restored = try restored()
    let backup = try Backup.make(
      of: present, at: .directory(place.backups, .restore), now: now, acceptsDamage: true, step: step)
    guard let kept = backup.path else { throw LifecycleError(.noBackup, place.backups.path) }
    var generation = restored.generation
    do {
      if way == .replacing { try place.anchors.announce(header: restored.header, anchor: restored.anchor) }
      let saved = try FileStore(unchangingAt: kept).read { try $0.header(0) }
      try present.replaceRows(by: store, total: restored.recordCount) { rows in
        // Nothing is replaced that was not shown, or that the backup does not have.
        guard try rows.header(0) == header, saved == header else { throw Outdated() }
        guard way == .continuing else { return nil }
        generation = backup.status.generation + 1
        return try restored.change(continuing: rows)
      } step: {
        try step($0, $1)
      } verify: {
        let result = try restored.verify($0, progress: step)
        if !result.isIntact, let problem = result.problems.first { throw problem }
      }
    } catch {
      // The vault is as it was, and its copy takes room that may be what was missing.
      if !(StorageError(.inDoubt) ~= error) {
        if way == .replacing { try? place.anchors.withdraw() }
        try? place.backups.remove(kept)
      }
      throw error
    }
    let failure = way == .replacing ? settle(restored) : nil
    place.backups.prune(keeping: [kept] + (self.backup.path.map { [$0] } ?? []))
    return Outcome(way: way, generation: generation, kept: kept, anchorFailure: failure)
  }

  /// - Returns: the reason if the anchor could not be written.
  private func settle(_ restored: RestoredVault) -> String? {
    do { try place.anchors.accept(restored.keys.vault, restored.anchor) } catch { return "\(error)" }
    return nil
  }

  // MARK: No vault, or none that can be read

  private func create(_ way: Way, _ now: Timestamp, _ step: Backup.Step) throws -> Outcome {
    let restored = try restored()
    let new = try UnnamedVault(for: place.vault)
    try new.fill(from: store, step: step)
    try place.anchors.announce(header: restored.header, anchor: restored.anchor)
    // The new file is complete and durable before the old one goes away.
    let kept: String?
    do {
      kept = way == .exchanging ? try putAside(now) : nil
      guard try new.appear(at: place.vault) else { throw StorageError(.vaultExists, place.vault) }
    } catch {
      try? place.anchors.withdraw()
      throw error
    }
    return Outcome(way: way, generation: restored.generation, kept: kept, anchorFailure: settle(restored))
  }

  /// Moves the files of the vault into a directory of their own. Each gets its second name there before the first one loses its name here,
  /// so that the vault is never without its log: if the process is killed, both are here, or both are there.
  private func putAside(_ now: Timestamp) throws -> String {
    let path = try damagedDirectory(now)
    try Files.withDurableDirectory(path) { try move(to: path) }
    return path
  }

  private func move(to path: String) throws {
    let files = try place.present()
    func aside(_ file: String) -> String { Path.join(path, Path.name(of: file)) }
    // A file system without second names: each is renamed below.
    for file in files { unsafe link(file, aside(file)) }
    do {
      try Files.synchronizeDirectory(path)
      for file in files.reversed() {
        // If the two are names of one file, rename(2) leaves both.
        try Files.rename(file, to: aside(file))
        guard unsafe unlink(file) == 0 || errno == ENOENT else { throw StorageError(errno: errno, file) }
      }
    } catch {
      // A vault with two names cannot be written: as long as it is here, nothing stays there.
      if (try? Files.status(at: place.vault)) != nil { for file in files { unsafe unlink(aside(file)) } }
      throw error
    }
    try Files.synchronizeDirectory(path)
    try Files.synchronizeDirectory(Path.parent(of: place.vault))
  }

  /// The path of a directory that is not there yet.
  private func damagedDirectory(_ now: Timestamp) throws -> String {
    var time = now
    while true {
      let path = Path.join(place.backups.path, "\(BackupDirectory.damaged)\(BackupName.text(of: time))")
      if try Files.status(at: path) == nil { return path }
      time.secondsSince1970 += 1
    }
  }
}
