import ArgumentParser
import CofferConsole
import CofferLifecycle
import CofferStorage
import CofferWire

struct VaultRestore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Put a backup in the place of the vault.",
    discussion: """
      Without FILE the newest backup is taken, those apart that a restore or repair has made before. It is copied, opened with a credential of the backup, proven as a whole and compared with \
      the vault before the question. The vault as it was is kept as a backup.
      """)

  @Argument(help: ArgumentHelp("The backup.", valueName: "file"), completion: .file())
  var file: String?

  @Flag(help: "Accept a backup of another vault.")
  var otherVault = false

  @OptionGroup var trial: TrialOptions
  @OptionGroup var vault: VaultOptions

  @Option(help: ArgumentHelp("As root: the vault that the system's agent keeps for this user.", valueName: "uid"))
  var user: UInt32?

  func run() throws {
    guard file?.isEmpty != true else { throw VaultBackup.emptyName }
    let owned: any OwnedVault = try user.map { try vault.systemVault(of: $0) } ?? vault.ownedVault()
    let path = try owned.name
    let dialogue = RestoreDialogue(
      show: { findings in
        let report = RestoreReport(file: file, path: path, findings: findings)
        guard otherVault || !findings.plan.isOtherVault else { throw Failure(LifecycleError(.otherVault), about: report.file) }
        if trial.dryRun || !trial.json { try report.write(asJSON: trial.json, outcome: nil) }
      }, ask: { try ask(path) })
    let answer = try owned.restore(file, isTrial: trial.dryRun, dialogue)
    let report = RestoreReport(file: file, path: path, findings: answer.findings)
    guard let outcome = answer.outcome else { return }
    if trial.json { try report.write(asJSON: true, outcome: outcome) } else { try report.write(outcome) }
  }

  private func ask(_ path: String) throws {
    guard !trial.force else { return }
    guard vault.isAnybodyThere else {
      throw Failure(.locked, "\(path): a person must agree, and cannot be asked here", hint: "--force; to try it: --dry-run")
    }
    guard try Question.isYes("Put the backup in its place? [y/N] ") else { throw Failure.cancelled }
  }

  /// Runs `body`; an error in it is one of the backup.
  static func naming<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch StorageError(.noVault) {
      throw Failure(.notFound, "\(file): there is no such file", hint: "coffer vault backup makes one")
    } catch {
      throw Failure(error, about: file)
    }
  }

  static func unsound(_ check: VaultCheck, _ file: String) -> Failure {
    .unsound(check, about: file, hint: "nothing has been changed; take another backup")
  }
}
