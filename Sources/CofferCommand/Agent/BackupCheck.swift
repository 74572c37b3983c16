import CofferConsole
import CofferLifecycle
import VaultCore

/// The state of the backups, for a person and as JSON.
struct BackupCheck {
  let state: BackupState
  private let now = Timestamp.now()

  init(_ state: BackupState) { self.state = state }

  /// A line for each finding, with the command that helps.
  var lines: [String] {
    var lines: [String] = []
    if let path = state.newest, let time = state.newestTime {
      lines.append("backup: \(age(of: time)), \(path)")
    } else {
      lines.append("backup: none; coffer vault backup makes one")
    }
    lines.append(
      state.trial.map { "trial restore: \(age(of: $0))\(isOverdue ? "; coffer vault restore --dry-run makes another" : "")" }
        ?? "trial restore: none; coffer vault restore --dry-run makes one")
    lines += state.leftovers.map { "left by a command that was killed: \($0); coffer vault restore --dry-run removes it" }
    if state.hasIntent {
      lines.append(
        state.hasVault
          ? "a restore was not finished; the next command that opens the vault does so: coffer vault verify"
          : "a restore was ended before the vault was in its place: coffer vault restore; the files of before are in "
            + state.directory)
    }
    return lines
  }

  private var isOverdue: Bool { state.trial.map { now.secondsSince1970 - $0.secondsSince1970 > Drill.interval } ?? true }

  private func age(of time: Timestamp) -> String {
    let days = max(0, (now.secondsSince1970 - time.secondsSince1970) / 86_400)
    return days == 0 ? "less than a day old" : days == 1 ? "1 day old" : "\(days) days old"
  }

  var json: JSON {
    .object([
      ("newest", state.newest.map { .text($0) } ?? .null),
      ("time", state.newestTime.map { .integer($0.secondsSince1970) } ?? .null),
      ("trial", state.trial.map { .integer($0.secondsSince1970) } ?? .null), ("trialOverdue", .boolean(isOverdue)),
      ("leftovers", .array(state.leftovers.map { .text($0) })), ("unfinishedRestore", .boolean(state.hasIntent)),
    ])
  }
}
