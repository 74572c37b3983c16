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
  @OptionGroup var place: BackedUpVaultOptions
  private var vault: VaultOptions { place.vault }

  func run() throws {
    guard file?.isEmpty != true else { throw VaultBackup.emptyName }
    let owned = try place.ownedVault()
    let path = try owned.name
    let dialogue = RestoreDialogue(
      show: { findings in
        let report = RestoreReport(file: file, path: path, vault: vault.vault, findings: findings)
        guard otherVault || !findings.plan.isOtherVault else { throw Failure(LifecycleError(.otherVault), about: report.file) }
        if trial.dryRun || !trial.json { try report.write(asJSON: trial.json, outcome: nil) }
      }, ask: { try trial.agree("Put the backup in its place?", about: path, vault) })
    let answer = try owned.restore(file, isTrial: trial.dryRun, dialogue)
    let report = RestoreReport(file: file, path: path, vault: vault.vault, findings: answer.findings)
    guard let outcome = answer.outcome else { return }
    if trial.json { try report.write(asJSON: true, outcome: outcome) } else { try report.write(outcome) }
  }

  /// Runs `body`; an error in it is one of the backup.
  static func naming<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw failure(error, ofBackup: file, name: file) }
  }

  /// The hints of errors are about a vault, which `--vault` names.
  /// - Parameters:
  ///   - path: nil: a file that the caller cannot name.
  ///   - name: For people.
  static func failure(_ error: any Error, ofBackup path: String?, name: String) -> Failure {
    switch error {
    case let failure as Failure: return failure
    case StorageError(.noVault):
      return Failure(
        .notFound, "\(name): does not exist", hint: "name one that is there; coffer doctor names the newest backup")
    case StorageError(.symbolicLink): return Failure(.inputOutput, "\(name): is a symbolic link", hint: "name the file itself")
    default:
      let failure = Failure(error, about: name)
      guard failure.status != .integrity else { return Failure(.integrity, failure.message, hint: anotherBackup) }
      return path == nil ? Failure(failure.status, failure.message) : failure.naming(vault: path)
    }
  }

  static func unsound(_ check: VaultCheck, _ file: String) -> Failure {
    .unsound(check, about: file, hint: "\(anotherBackup), or mend a copy: \(mending)")
  }

  static func wrongCredentialOfOtherVault(_ file: String) -> Failure {
    Failure(
      .wrongPassphrase, "\(file): is a backup of another vault, and this credential does not open it",
      hint: "nothing has been changed; if it is to take this one's place: --other-vault, with a credential of that vault")
  }

  private static let anotherBackup = "nothing has been changed; take another backup"
  private static let mending = "cp FILE COPY; coffer vault repair --vault COPY; coffer vault restore COPY"
}
