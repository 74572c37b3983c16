import Coffer
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferWire
import Glibc
import SecretMemory
import VaultCore

extension SystemVault {
  /// The agent copies the file in, opens and compares it, and changes the vault: this process hands the file on, and asks.
  func restore(_ file: String?, isTrial: Bool, _ dialogue: RestoreDialogue) throws -> RestoreAnswer {
    let opened = try file.map { file in try VaultRestore.naming(file) { try ForeignVault.open(file, besides: nil) } }
    let client = RestoreClient(options, file, opened, name, dialogue)
    let answer = try restore(hasFile: opened != nil, isTrial: isTrial, client)
    if answer.outcome == nil { try dialogue.show(answer.findings) }
    return answer
  }

  private func restore(hasFile: Bool, isTrial: Bool, _ client: RestoreClient) throws -> RestoreAnswer {
    guard isProven else {
      client.keyFile = try options.keyFile.map { try Descriptor.openKeyFile($0) }
      return try about(name) {
        try client.naming {
          try keychain.restore(hasFile: hasFile, isTrial: isTrial, by: nil, ceiling: options.ceiling, client)
        }
      }
    }
    do {
      return try withCredential { proof in
        client.proof = try proof.duplicate()
        return try client.naming {
          try keychain.restore(hasFile: hasFile, isTrial: isTrial, by: proof.duplicate(), ceiling: options.ceiling, client)
        }
      }
    } catch let failure as Failure where !client.isBegun && [.noVault, .integrity].contains(failure.status) {
      // Without a vault that opens there is no proof of its owner.
      throw Failure(
        failure.status, failure.message, hint: "as root: coffer vault restore --user \(geteuid()); with FILE, that backup")
    }
  }
}

/// The command's part of a restore by the agent.
private final class RestoreClient: UpkeepClient {
  /// A credential of the vault, which is tried on the backup first.
  var proof: Credential?
  /// The file of `--key-file`, if it opens the backup.
  var keyFile: Descriptor?
  private(set) var isBegun = false
  private let options: VaultOptions
  private let file: String?
  private let opened: File<StorageError>?
  private let vault: String
  private let dialogue: RestoreDialogue
  private let work = UpkeepShow()
  private var credentials: BackupCredentials?
  /// The file that an error concerns. nil: the proof.
  private var subject: String?
  private var isAgreed = false

  init(_ options: VaultOptions, _ file: String?, _ opened: File<StorageError>?, _ vault: String, _ dialogue: RestoreDialogue) {
    (self.options, self.file, self.opened, self.vault, self.dialogue) = (options, file, opened, vault, dialogue)
  }

  private var backup: String { file ?? "the newest backup" }

  func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let unsound as UnsoundVault {
      throw VaultRestore.unsound(unsound.check, backup)
    } catch let error as KeychainError where isAboutAgent(error) {
      throw agentLost(Failure(error, about: vault))
    } catch {
      guard let subject else { throw error }
      throw subject == backup ? VaultRestore.failure(error, ofBackup: file, name: backup) : Failure(error, about: subject)
    }
  }

  private func isAboutAgent(_ error: KeychainError) -> Bool {
    error.code == .inDoubt || isBegun && [.agent, .agentNotAnswering].contains(error.code)
  }

  /// The agent has ended, or does not answer: nothing of this is about the backup.
  private func agentLost(_ failure: Failure) -> Failure {
    guard isAgreed else { return SystemVault.agentEnded }
    return Failure(
      failure.status, failure.message,
      hint: "the vault is the one before, or that of the backup: coffer vault status shows its generation; then try again")
  }

  func show(_ progress: UpkeepProgress) throws {
    if subject == nil { subject = backup }
    do { try work.show(progress) } catch { throw isAgreed ? Self.interrupted : error }
  }

  private static let interrupted = Failure(
    .cancelled, "interrupted: the vault is the one before, or that of the backup",
    hint: "coffer vault status shows its generation")

  func reply(to question: UpkeepQuestion) throws -> UpkeepReply {
    isBegun = true
    try work.pause()
    switch question.kind {
    case .file:
      subject = backup
      guard let opened else { throw Self.unexpected }
      return .file(opened.number)
    case .opening:
      subject = backup
      return .credentials(present: nil, new: try credential(VaultSummary(wireRows: question.rows)))
    case .agreement:
      subject = vault
      guard question.rows.count == 1 else { throw Self.unexpected }
      let findings = try RestoreFindings(wireRow: question.rows[0])
      try dialogue.show(findings)
      if findings.plan.way != .nothing { try dialogue.ask() }
      isAgreed = true
      return .yes
    case .offer, .credential, .shown: throw Self.unexpected
    }
  }

  private static let unexpected = KeychainError(.agent, "a question that was not expected")

  private func credential(_ summary: VaultSummary) throws -> Credential {
    let credentials = try self.credentials ?? BackupCredentials(options, backup, proof: proof.take(), keyFile)
    self.credentials = credentials
    return try about(backup) { try credentials.next(for: summary.slots) }
  }
}
