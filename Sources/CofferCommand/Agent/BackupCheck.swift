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
    if !state.hasVault, !state.hasIntent { lines.append("no vault is here; coffer vault restore makes it from a backup") }
    if let path = state.newest, let time = state.newestTime {
      lines.append("backup: \(age(of: time)), \(path)")
      if state.newestHasOlderKeys {
        lines.append("it opens with the credentials of before the last rotation; coffer vault backup makes one with the new keys")
      }
    } else {
      lines.append("backup: none; coffer vault backup makes one")
    }
    lines.append(trial)
    lines += state.leftovers.map { "left by a command that was killed: \($0); coffer vault restore --dry-run removes it" }
    lines += state.unfinishedRotations.map {
      "left by a rotation that was not finished: \($0) opens with the credentials of before; coffer vault rotate removes it"
    }
    lines += state.putAside.map {
      "put aside by a restore because it could not be read: \($0); remove it if you need nothing of it"
    }
    if state.hasIntent {
      lines.append(
        state.hasVault
          ? "a restore was not finished; the next command that opens the vault does so: coffer vault verify"
          : "a restore was ended before the vault was in its place: coffer vault restore; the files of before are in "
            + state.directory)
    }
    return lines
  }

  private var trial: String {
    guard let time = state.trial else { return "trial restore: none; coffer vault restore --dry-run makes one" }
    let before = state.trialPrecedesBackups ? ", before all backups that are here" : ""
    return "trial restore: \(age(of: time))\(before)\(isOverdue ? "; coffer vault restore --dry-run makes another" : "")"
  }

  private var isOverdue: Bool {
    guard let time = state.trial else { return true }
    return state.trialPrecedesBackups || now.secondsSince1970 - time.secondsSince1970 > Drill.interval
  }

  private func age(of time: Timestamp) -> String {
    let days = max(0, (now.secondsSince1970 - time.secondsSince1970) / 86_400)
    return days == 0 ? "less than a day old" : days == 1 ? "1 day old" : "\(days) days old"
  }

  var json: JSON {
    .object([
      ("newest", state.newest.map { .text($0) } ?? .null),
      ("time", state.newestTime.map { .integer($0.secondsSince1970) } ?? .null),
      ("newestHasOlderKeys", .boolean(state.newestHasOlderKeys)),
      ("trial", state.trial.map { .integer($0.secondsSince1970) } ?? .null), ("trialOverdue", .boolean(isOverdue)),
      ("putAside", .array(state.putAside.map { .text($0) })), ("leftovers", .array(state.leftovers.map { .text($0) })),
      ("unfinishedRotations", .array(state.unfinishedRotations.map { .text($0) })),
      ("unfinishedRestore", .boolean(state.hasIntent)),
    ])
  }
}
