import CofferConsole
import CofferLifecycle
import CofferWire
import SecretMemory
import VaultCore

/// The output of `coffer vault restore`.
struct RestoreReport {
  let file: String
  let path: String
  /// The path that `--vault` has.
  private let vault: String?
  private let findings: RestoreFindings
  private var plan: Restoration.Plan { findings.plan }

  /// - Parameter file: The backup that was named.
  init(file: String?, path: String, vault: String?, findings: RestoreFindings) {
    (self.file, self.path, self.vault, self.findings) = (file ?? findings.file ?? path, path, vault, findings)
  }

  /// The findings, and what would be done.
  func write(asJSON json: Bool, outcome: Restoration.Outcome?) throws {
    try Descriptor.output.write(
      json ? self.json(outcome).description + "\n" : found.map { $0.escapingControls() + "\n" }.joined())
  }

  /// The outcome, after the findings.
  func write(_ outcome: Restoration.Outcome) throws {
    guard outcome.way != .nothing else { return }
    try Descriptor.output.write("\(path.escapingControls()): restored, generation \(outcome.generation)\n")
    if let kept = outcome.kept { Descriptor.error.note("note: the vault as it was: \(kept.escapingControls())\n") }
    if outcome.way == .replacing || outcome.way == .exchanging {
      Descriptor.error.note("note: the vault now opens with the passphrases and keys of the backup\n")
    }
    if let failure = outcome.anchorFailure {
      Descriptor.error.note("coffer: warning: the state of the vault was not recorded: \(failure.escapingControls())\n")
    }
  }

  private var found: [String] {
    var lines = ["\(file): generation \(findings.generation), \(counted(findings.recordCount, "record")), all sound"]
    if findings.unavailableCount > 0 { lines.append(VaultCheck.unopened(findings.unavailableCount)) }
    if plan.isOtherVault { lines.append("it is a backup of another vault") }
    if plan.rollback == .forked { lines.append("it has another history than the vault that was last seen here") }
    let again = "credentials of its time, a leaked passphrase too, open the vault again"
    if plan.hasOlderKeys {
      lines.append("it was made before the present keys: \(again)")
    } else if plan.rollback == .anchorOtherKeys {
      lines.append("it has other keys than the vault that was last seen here: \(again)")
    }
    lines += comparison + plan.limits.map { "policy: \($0.name.rawValue) is \($0.here), and becomes \($0.there)" }
    lines.append(intention)
    return lines
  }

  private var comparison: [String] {
    guard let comparison = plan.comparison, plan.way != .nothing else { return [] }
    let problems = plan.problemCount == 0 ? "" : ", \(counted(plan.problemCount, "problem"))"
    let here = (plan.generation.map { "here: generation \($0)" } ?? "here") + problems
    guard !comparison.isSame else { return ["\(here); the items are the same"] }
    func items(_ count: UInt64, _ one: String, _ several: String) -> String? {
      count == 0 ? nil : count == 1 ? "1 item \(one)" : "\(count) items \(several)"
    }
    let differences = [
      items(comparison.newerHere, "here is newer", "here are newer"), items(comparison.onlyHere, "is only here", "are only here"),
      items(comparison.onlyThere, "is only in the backup", "are only in the backup"),
      items(comparison.differing, "differs", "differ"),
      comparison.otherRecordsDiffer ? "groups, apps, grants or the policy differ" : nil,
    ]
    return ["\(here); \(differences.compactMap(\.self).joined(separator: ", "))"]
  }

  private var intention: String {
    switch plan.way {
    case .nothing where plan.rollback != nil:
      "the vault is in this state, which is not the one last seen here: to accept it, \(accepting)"
    case .nothing: "the vault is in this state; nothing to do"
    case .continuing: "the records become those of the backup; the ways to open the vault stay"
    case .replacing: "everything becomes that of the backup, the ways to open it too"
    case .exchanging:
      "the file here cannot be read\(plan.damage.map { " (\(Failure($0).message))" } ?? ""); it is put aside, and the vault is made from the backup"
    case .creating: "no vault is here; it is made from the backup"
    }
  }

  private var accepting: String {
    let command = "coffer vault accept-rollback"
    return vault.flatMap { Failure.hint(command, naming: $0) } ?? command
  }

  private func json(_ outcome: Restoration.Outcome?) -> JSON {
    let comparison = plan.comparison.map { comparison in
      JSON.object([
        ("newerHere", .natural(comparison.newerHere)), ("onlyHere", .natural(comparison.onlyHere)),
        ("onlyInBackup", .natural(comparison.onlyThere)), ("differing", .natural(comparison.differing)),
        ("otherRecordsDiffer", .boolean(comparison.otherRecordsDiffer)),
      ])
    }
    return .object([
      ("file", .text(file)), ("path", .text(path)), ("generation", .natural(findings.generation)),
      ("records", .natural(findings.recordCount)), ("unavailable", .natural(findings.unavailableCount)),
      ("way", .text(plan.way.rawValue)), ("otherVault", .boolean(plan.isOtherVault)),
      ("here", plan.generation.map { .natural($0) } ?? .null), ("problems", .natural(plan.problemCount)),
      ("comparison", comparison ?? .null),
      (
        "policy",
        .object(plan.limits.map { ($0.name.rawValue, .object([("here", .natural($0.here)), ("inBackup", .natural($0.there))])) })
      ),
      ("rollback", plan.rollback.map { .text($0.name) } ?? .null),
      ("restored", outcome.map { .natural($0.generation) } ?? .null), ("kept", (outcome?.kept).map { .text($0) } ?? .null),
    ])
  }
}
