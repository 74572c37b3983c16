import ArgumentParser
import CofferConsole
import CofferWire
import Explanations
import SecretMemory
import VaultCore
import VaultUpkeep

struct VaultRepair: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair", abstract: "Keep what is sound of a damaged vault, and list what is lost.",
    discussion: """
      Lists each record that would not stay as it is, and then asks; without a terminal it acts only with --force. A backup is made first. \
      Then the tree is built anew over all records that are proven, and everything is checked.
      """)

  @Option(help: ArgumentHelp("Take lost records from this backup of the vault.", valueName: "backup"), completion: .file())
  var from: String?

  @Flag(help: "Keep records that open and are not proven: they may be older, or may have been removed once.")
  var acceptUnproven = false

  @Flag(help: "Let go of records that open and are not proven, also for older ones of --from.")
  var dropUnproven = false

  @OptionGroup var trial: TrialOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard !acceptUnproven || !dropUnproven else {
      throw Failure.usage("--accept-unproven: not together with --drop-unproven")
    }
    let owned = try vault.ownedVault()
    let path = try owned.name
    var lostCount = 0
    let dialogue = RepairDialogue(
      show: { plan in
        lostCount = plan.count(.lost)
        try Descriptor.output.write(trial.json ? plan.json.description + "\n" : plan.text)
        if lostCount > 0, from == nil { Descriptor.error.note("note: a backup may have what is lost: --from BACKUP\n") }
        guard plan.droppedCount == 0 || dropUnproven else { throw unproven(plan.droppedCount, path) }
        guard !trial.dryRun || plan.isSound else {
          throw Failure(.integrity, "\(path): is damaged; nothing was changed", hint: "coffer vault repair, without --dry-run")
        }
      }, ask: { try trial.agree("Repair it?", about: path, vault) })
    let outcome = try Self.mended {
      try owned.repair(from: from, acceptsUnproven: acceptUnproven, isTrial: trial.dryRun, dialogue)
    }
    guard let outcome else { return }
    let records = counted(outcome.recordCount, "record")
    Descriptor.error.note("note: \(records), all sound; the vault as it was: \(outcome.kept.escapingControls())\n")
    if lostCount > 0 {
      Descriptor.error.note("note: coffer import coffer BACKUP NAME takes an item that is lost from a backup\n")
    }
    if let failure = outcome.reportFailure {
      Descriptor.error.note(
        "coffer: warning: the vault is repaired, but its report was not written: \(failure.escapingControls())\n")
    }
  }

  /// No record is dropped by silence that may be the only one of a value.
  private func unproven(_ count: Int, _ path: String) -> Failure {
    let records = count == 1 ? "1 record is" : "\(count) records are"
    return Failure(
      .integrity, "\(path): \(records) not damaged, and not proven; nothing was changed",
      hint: acceptUnproven
        ? "repair where the key of their device is, or let them go: --drop-unproven"
        : "--accept-unproven keeps them, --from BACKUP takes what a backup proves, --drop-unproven lets them go")
  }

  /// Runs a repair; damage that it leaves has another hint than a repair.
  private static func mended<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let failure as Failure where failure.hint == Hints.damage {
      throw Failure(failure.status, failure.message, hint: Hints.backup)
    }
  }

  /// After the change.
  static let interrupted = Failure(
    .cancelled, "interrupted: the vault is repaired, and was not checked", hint: "coffer vault verify")

  /// Before the change: without a backup nothing is repaired.
  static func unkept(_ error: any Error, _ path: String) -> Failure {
    let failure = Failure(error, about: path)
    guard failure.status != .cancelled else { return failure }
    return Failure(.inputOutput, "\(failure.message); without a backup nothing is repaired", hint: failure.hint)
  }
}

extension RepairPlan {
  fileprivate var text: String {
    guard !isSound else {
      let records = counted(keptCount, "record")
      return unopenedCount == 0 ? "\(records), all sound\n" : "\(records), \(VaultCheck.unopened(unopenedCount))\n"
    }
    var table = Table(heading: ["OUTCOME", "KIND", "GROUP", "NAME", "GENERATION", "FAULT", "ID"])
    for record in records {
      table.rows.append([
        record.outcome.rawValue, record.kindText, record.group?.name ?? "", record.name ?? "",
        record.generation.map { "\($0)" } ?? "", record.faultText, record.id.description,
      ])
    }
    let origins = [
      (count(.accepted), "accepted"), (count(.fromBackup), "from the backup"),
      (makesStandardGroup ? 1 : 0, "new, the group default"),
    ].filter { $0.0 > 0 }.map { ", \($0.0) \($0.1)" }.joined()
    let stay = "\(counted(recordCount, "record")) stay\(recordCount == 1 ? "s" : "")"
    let nodes = nodeCount == 0 ? "" : "; the index is built anew"
    let nameless =
      namelessCount == 0
      ? "" : "; \(counted(UInt64(namelessCount), "row")) without an identifier go\(namelessCount == 1 ? "es" : "")"
    return table.text(style: .current()) + stay + (origins.isEmpty ? "" : ": \(keptCount) proven\(origins)")
      + "\(nameless)\(nodes)\n"
  }

  fileprivate var json: JSON {
    .object([
      ("sound", .boolean(isSound)), ("kept", .natural(keptCount)), ("after", .natural(recordCount)),
      ("nodes", .integer(Int64(nodeCount))), ("nameless", .integer(Int64(namelessCount))),
      ("unavailable", .natural(unopenedCount)),
      (
        "records",
        .array(
          records.map { record in
            .object([
              ("outcome", .text(record.outcome.rawValue)), ("kind", .text(record.kindText)),
              ("group", record.group.map { .text($0.name) } ?? .null), ("name", record.name.map { .text($0) } ?? .null),
              ("generation", record.generation.map { .natural($0) } ?? .null),
              ("replaces", record.replaced.map { .natural($0) } ?? .null),
              ("fault", record.reason.map { .text($0.name) } ?? .null), ("id", .text(record.id.description)),
            ])
          })
      ),
    ])
  }
}

extension RepairedRecord {
  fileprivate var name: String? { group.flatMap { group in item.map { $0.name(in: group) } } }

  fileprivate var faultText: String {
    if let replaced { return "takes the place of generation \(replaced), which is not damaged" }
    return reason.map { Failure(VaultError($0)).message } ?? ""
  }

  fileprivate var kindText: String {
    switch kind {
    case .item?: "item"
    case .group?: "group"
    case .accessRule?: "access rule"
    case .alias?: "alias"
    case .policy?: "policy"
    case .history?: "former version"
    case nil: ""
    }
  }
}
