import CofferFiles
import CofferStorage
import Glibc
package import VaultCore
import VaultUpkeep

extension Restoration {
  /// The result of a restore.
  package struct Outcome: Sendable {
    package let way: Way
    /// The generation of the vault now.
    package let generation: UInt64
    /// The backup of the vault as it was, or the directory with its files.
    package let kept: String?
    /// Why the anchor could not be written. The next program to open the vault does so.
    package let anchorFailure: String?
  }

  /// How often the backup of what is here is made anew because others write meanwhile.
  private static let attempts = 10

  /// Whether another process must not have the vault open: a state that does not continue the one that it has seen.
  package static func excludesAgent(_ way: Way) -> Bool { way != .continuing && way != .nothing }

  /// Makes a backup of what is here, and then changes it.
  /// - Throws: `LifecycleError`: `agentHasVault`, `changedMeanwhile`; `Unreadable`; `StorageError`: `inDoubt` if it cannot be told whether
  ///   the vault was changed; after any other error it is as it was. The errors of `step`.
  package func carryOut(_ plan: Plan, now: Timestamp, step: @escaping Backup.Step) throws -> Outcome {
    let agent = Self.excludesAgent(plan.way) ? try takeAgentLock() : nil
    defer { withExtendedLifetime(agent) {} }
    switch plan.way {
    case .nothing: return Outcome(way: .nothing, generation: try generation(), kept: nil, anchorFailure: nil)
    case .creating, .exchanging: return try create(plan.way, now, step)
    case .continuing, .replacing:
      do {
        return try replace(plan.way, now, step)
      } catch let error as StorageError where Self.isDamage(error) {
        // The rows that are here cannot be copied. The files can be kept.
        throw Unreadable(plan: plan.exchanging(because: error))
      }
    }
  }

  /// Waits for an agent that is about to end.
  /// - Throws: `agentHasVault`.
  private func takeAgentLock() throws -> AgentLock {
    let deadline = Deadline(after: .seconds(2))
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

  private func replace(_ way: Way, _ now: Timestamp, _ step: @escaping Backup.Step) throws -> Outcome {
    let restored = try restored()
    let present = try FileStore(at: place.vault)
    if way == .replacing { try place.anchors.announce(header: restored.header, anchor: restored.anchor) }
    for _ in 0..<Self.attempts {
      let backup = try Backup.make(
        of: present, at: .directory(place.backups, .restore), now: now, acceptsDamage: true, step: step)
      guard let kept = backup.path else { continue }
      let saved = try FileStore(unchangingAt: kept).read { try $0.header(0) }
      do {
        var generation = restored.generation
        try present.replaceRows(by: store, total: restored.recordCount) { rows in
          // Nothing is replaced that the backup does not have.
          guard try rows.header(0) == saved else { throw LifecycleError(.changedMeanwhile, place.vault) }
          guard way == .continuing else { return nil }
          generation = backup.status.generation + 1
          return try restored.change(continuing: rows)
        } step: {
          try step($0, $1)
        } verify: {
          let result = try restored.verify($0, progress: step)
          if let problem = result.problems.first { throw problem }
        }
        let failure = way == .replacing ? settle() : nil
        place.backups.prune(keeping: [kept, file])
        return Outcome(way: way, generation: generation, kept: kept, anchorFailure: failure)
      } catch LifecycleError(.changedMeanwhile) {
        unsafe unlink(kept)
      }
    }
    throw LifecycleError(.changedMeanwhile, place.vault)
  }

  /// - Returns: the reason if the anchor could not be written.
  private func settle() -> String? {
    do { try place.anchors.settle() } catch { return "\(error)" }
    return nil
  }

  // MARK: No vault, or none that can be read

  private func create(_ way: Way, _ now: Timestamp, _ step: Backup.Step) throws -> Outcome {
    let restored = try restored()
    let new = try UnnamedVault(for: place.vault)
    try new.fill(from: store, step: step)
    try place.anchors.announce(header: restored.header, anchor: restored.anchor)
    // The new file is complete and durable before the old one goes away.
    let kept = way == .exchanging ? try putAside(now) : nil
    guard try new.appear(at: place.vault) else { throw StorageError(.vaultExists, place.vault) }
    return Outcome(way: way, generation: restored.generation, kept: kept, anchorFailure: settle())
  }

  /// Moves the files of the vault into a directory of their own. Each gets its second name there before the first one loses its name here,
  /// so that the vault is never without its log: if the process is killed, both are here, or both are there.
  private func putAside(_ now: Timestamp) throws -> String {
    let path = try damagedDirectory(now)
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
    return path
  }

  /// Makes a directory that is not there yet.
  private func damagedDirectory(_ now: Timestamp) throws -> String {
    var time = now
    while true {
      let path = Path.join(place.backups.path, "damaged-\(BackupName.text(of: time))")
      if try Files.status(at: path) == nil {
        try Files.makeDurableDirectory(path)
        return path
      }
      time.secondsSince1970 += 1
    }
  }
}
