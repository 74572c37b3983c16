import Coffer
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore
import VaultUpkeep

extension SystemVault {
  func repair(
    from: String?, acceptsUnproven: Bool, isTrial: Bool, _ dialogue: RepairDialogue
  ) throws -> RepairOutcome? {
    let opened = try from.map { file in try VaultRestore.naming(file) { try ForeignVault.open(file, besides: nil) } }
    let client = RepairClient(from, opened, dialogue)
    return try about(name) {
      try withCredential { proof in
        try client.naming {
          let answer = try keychain.repair(
            hasFile: opened != nil, acceptsUnproven: acceptsUnproven, isTrial: isTrial, by: proof, ceiling: options.ceiling,
            client)
          if answer.outcome == nil { try client.show(answer.counts) }
          return answer.outcome
        }
      }
    }
  }
}

/// The command's part of a repair by the agent.
private final class RepairClient: UpkeepClient {
  private let file: String?
  private let opened: File<StorageError>?
  private let dialogue: RepairDialogue
  private let work = UpkeepShow()
  private var rows: [Attributes] = []
  /// Whether the agent reads the file of `--from`.
  private var isReading = false
  private var isAgreed = false

  init(_ file: String?, _ opened: File<StorageError>?, _ dialogue: RepairDialogue) {
    (self.file, self.opened, self.dialogue) = (file, opened, dialogue)
  }

  func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch {
      guard isReading, let file else { throw error }
      throw VaultRestore.failure(error, ofBackup: file, name: file)
    }
  }

  func show(_ progress: UpkeepProgress) throws {
    if progress.part != Self.reading { isReading = false }
    do { try work.show(progress) } catch { throw isAgreed ? Self.interrupted : error }
  }

  private static let reading = "reading"
  private static let interrupted = Failure(
    .cancelled, "interrupted: the vault is as damaged as before, or repaired", hint: "coffer vault verify")

  /// The whole plan.
  func show(_ counts: Attributes) throws {
    try work.pause()
    let plan: RepairPlan
    do throws(WireError) { plan = try RepairPlan(wireRow: counts, rows) } catch {
      throw KeychainError(.agent, "\(error.code.name): \(error.detail)")
    }
    try dialogue.show(plan)
  }

  func reply(to question: UpkeepQuestion) throws -> UpkeepReply {
    switch question.kind {
    case .file:
      guard let opened else { throw Self.unexpected }
      isReading = true
      return .file(opened.number)
    case .shown:
      isReading = false
      rows += question.rows
      return .yes
    case .agreement:
      isReading = false
      guard question.rows.count == 1 else { throw Self.unexpected }
      try show(question.rows[0])
      try dialogue.ask()
      isAgreed = true
      return .yes
    case .offer, .credential, .opening: throw Self.unexpected
    }
  }

  private static let unexpected = KeychainError(.agent, "a question that was not expected")
}
