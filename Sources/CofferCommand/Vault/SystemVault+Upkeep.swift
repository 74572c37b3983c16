import Coffer
import CofferConsole
import CofferRequests
import CofferWire
import SecretMemory
import VaultCore

/// Work on the whole vault: the agent does it, and this process shows how far it is.
extension SystemVault {
  func policy(setting changes: [Limits.Name: UInt64]) throws -> VaultPolicyReport {
    try withCredential { proof in
      guard changes.isEmpty else { return try keychain.setLimits(changes, by: proof, ceiling: options.ceiling, UpkeepShow()) }
      do { return try keychain.limits(by: proof, ceiling: options.ceiling, UpkeepShow()) } catch let error as KeychainError {
        throw error.concernsOneRecord ? Failure.damagedPolicy(error) : error
      }
    }
  }

  func acceptRollback(_ confirm: (VaultCheck.Rollback) throws -> Void) throws -> VaultCheck.Rollback? {
    try withoutActuallyEscaping(confirm) { confirm in
      try withCredential { proof in
        try keychain.acceptRollback(by: proof, ceiling: options.ceiling, RollbackConfirmer(confirm: confirm))
      }
    }
  }

  func verify() throws -> VaultCheck {
    try withCredential { try keychain.verify(by: $0, ceiling: options.ceiling, UpkeepShow()) }
  }
}

/// Shows the progress of work that the agent does, and ends it by a signal, as `LongWork` does.
final class UpkeepShow: UpkeepClient {
  private var work: LongWork?
  private var part: String?

  deinit { work?.end() }

  /// Before a question: a signal ends this process at once, and with it the work.
  func pause() throws {
    try work?.pause()
    part = ""
  }

  /// From here on signals wait for the next notice.
  func holding() throws -> LongWork {
    let work = try self.work ?? LongWork("")
    self.work = work
    try work.begin("")
    part = ""
    return work
  }

  func show(_ progress: UpkeepProgress) throws {
    let work = try self.work ?? LongWork(progress.part)
    self.work = work
    if let part, part != progress.part { try work.begin(progress.part) }
    part = progress.part
    try work.step(progress.done, of: progress.total)
  }
}

private struct RollbackConfirmer: UpkeepClient {
  let confirm: (VaultCheck.Rollback) throws -> Void

  func show(_: UpkeepProgress) {}

  func reply(to question: UpkeepQuestion) throws -> UpkeepReply {
    guard question.kind == .agreement, question.rows.count == 1 else { throw KeychainError(.agent, "another question") }
    try confirm(VaultCheck.Rollback(wireRow: question.rows[0]))
    return .yes
  }
}
