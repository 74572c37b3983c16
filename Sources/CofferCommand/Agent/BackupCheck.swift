import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import VaultCore

/// The state of the backups of a vault, according to the files beside it.
struct BackupCheck {
  private let directory: BackupDirectory
  private let newest: BackupName?
  private let trial: Timestamp?
  private let leftovers: [String]
  private let hasIntent: Bool
  private let hasVault: Bool
  private let now = Timestamp.now()

  /// Returns nil if there is no vault, and none whose restore was not finished.
  init?(ofVaultAt path: String?) throws {
    let places = try Places { Environment[$0] }
    let vault = places.resolvedPath(ofVaultAt: path ?? places.vault)
    hasVault = try CofferFiles.Files<StorageError>.status(at: vault) != nil
    let intent = try places.anchors(forVaultAt: vault).intentPath()
    hasIntent = try CofferFiles.Files<StorageError>.status(at: intent) != nil
    guard hasVault || hasIntent else { return nil }
    let name = Path.name(of: vault)
    directory = BackupDirectory(at: places.backups(forVaultAt: vault))
    newest = directory.names.first
    trial = try Drill.last(in: places)
    leftovers =
      directory.leftovers(remove: false) + UnnamedVault.leftovers(in: Path.parent(of: vault), remove: false) { $0 == name }
  }

  /// A line for each finding, with the command that helps.
  var lines: [String] {
    var lines = [
      newest.map { "backup: \(age(of: $0.time)), \(directory.path(of: $0))" }
        ?? "backup: there is none; coffer vault backup makes one",
      trial.map { "trial restore: \(age(of: $0))\(isOverdue ? "; coffer vault restore --dry-run makes another" : "")" }
        ?? "trial restore: there was none; coffer vault restore --dry-run makes one",
    ]
    lines += leftovers.map { "left by a command that was killed: \($0); coffer vault restore --dry-run removes it" }
    if hasIntent {
      lines.append(
        hasVault
          ? "a restore was not finished; the next command that opens the vault does so: coffer vault verify"
          : "a restore was ended before the vault was in its place: coffer vault restore; the files of before are in \(directory.path)"
      )
    }
    return lines
  }

  private var isOverdue: Bool { trial.map { now.secondsSince1970 - $0.secondsSince1970 > Drill.interval } ?? true }

  private func age(of time: Timestamp) -> String {
    let days = max(0, (now.secondsSince1970 - time.secondsSince1970) / 86_400)
    return days == 0 ? "less than a day old" : days == 1 ? "1 day old" : "\(days) days old"
  }

  var json: JSON {
    .object([
      ("newest", newest.map { .text(directory.path(of: $0)) } ?? .null),
      ("time", newest.map { .integer($0.time.secondsSince1970) } ?? .null),
      ("trial", trial.map { .integer($0.secondsSince1970) } ?? .null), ("trialOverdue", .boolean(isOverdue)),
      ("leftovers", .array(leftovers.map { .text($0) })), ("unfinishedRestore", .boolean(hasIntent)),
    ])
  }
}
