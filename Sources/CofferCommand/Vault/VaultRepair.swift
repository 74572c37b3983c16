import ArgumentParser
import CofferConsole
import CofferLifecycle
import CofferStorage
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

  @OptionGroup var trial: TrialOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let place = try vault.openPlace()
    let source = try from.map { path in try about(path) { try FileStore(at: path) } }
    let lock = try trial.dryRun ? nil : about(place.path) { try MaintenanceLock(forVaultAt: place.path) }
    defer { withExtendedLifetime(lock) {} }
    var opened = try vault.open(place)
    let repair = Repair(of: place.store, backups: place.backups, from: source, acceptsUnproven: acceptUnproven)
    let work = try LongWork("checking")
    let plan = try damage(place) { try repair.plan(for: opened, step: work.step) }
    try work.pause()
    try Descriptor.output.write(trial.json ? plan.json.description + "\n" : plan.text)
    guard !plan.isSound else { return opened.finish() }
    guard !trial.dryRun else {
      opened.finish()
      throw Failure(.integrity, "\(place.path): is damaged; nothing was changed", hint: "coffer vault repair, without --dry-run")
    }
    try agree()
    try work.begin("copying")
    let kept = try backUp(place, repair, work)
    try work.begin("repairing")
    try damage(place) { try repair.carryOut(plan, on: &opened, step: work.step) }
    try work.begin("checking")
    let result = try damage(place) {
      try opened.verify { done, total in do { try work.step(done, of: total) } catch { throw Self.interrupted } }
    }
    work.end()
    opened.finish()
    guard result.isSound else { throw Failure.unsound(result, about: place.path, hint: Hints.backup) }
    try repair.finish(plan, keeping: kept)
    let records = counted(result.recordCount, "record")
    Descriptor.error.note("note: \(records), all sound; the vault as it was: \(kept.escapingControls())\n")
  }

  private static let interrupted = Failure(
    .cancelled, "interrupted: the vault is repaired, and was not checked", hint: "coffer vault verify")

  private func damage<Result: ~Copyable>(_ place: VaultPlace, _ body: () throws -> Result) throws -> Result {
    do {
      return try about(place.path, body)
    } catch let failure as Failure where failure.status == .integrity {
      throw Failure(.integrity, failure.message, hint: Hints.backup)
    }
  }

  /// - Throws: `cancelled`.
  private func agree() throws {
    guard !trial.force else { return }
    guard vault.isAnybodyThere, Descriptor.input.isTerminal else {
      throw Failure(.cancelled, "repair: nothing was changed, because a yes cannot be asked for here", hint: "--force")
    }
    guard try Question.isYes("Repair it? [y/N] ") else { throw Failure.cancelled }
  }

  private func backUp(_ place: VaultPlace, _ repair: Repair, _ work: LongWork) throws -> String {
    do {
      return try repair.backUp(now: .now(), step: work.step)
    } catch {
      let failure = Failure(error, about: place.path)
      guard failure.status != .cancelled else { throw failure }
      throw Failure(.inputOutput, "\(failure.message); without a backup nothing is repaired", hint: failure.hint)
    }
  }
}

extension RepairPlan {
  fileprivate var text: String {
    guard !isSound else { return "\(counted(keptCount, "record")), all sound\n" }
    var table = Table(heading: ["OUTCOME", "KIND", "GROUP", "NAME", "GENERATION", "FAULT", "ID"])
    for record in records {
      table.rows.append([
        record.outcome.rawValue, record.kindText, record.group?.name ?? "", record.name ?? "",
        record.generation.map { "\($0)" } ?? "", record.reason?.name ?? "", record.id.description,
      ])
    }
    let nodes = nodeCount == 0 ? "" : "; the index is built anew"
    return table.text(style: .current()) + "\(counted(keptCount, "record")) stay\(keptCount == 1 ? "s" : "")\(nodes)\n"
  }

  fileprivate var json: JSON {
    .object([
      ("sound", .boolean(isSound)), ("kept", .natural(keptCount)), ("nodes", .integer(Int64(nodeCount))),
      (
        "records",
        .array(
          records.map { record in
            .object([
              ("outcome", .text(record.outcome.rawValue)), ("kind", .text(record.kindText)),
              ("group", record.group.map { .text($0.name) } ?? .null), ("name", record.name.map { .text($0) } ?? .null),
              ("generation", record.generation.map { .natural($0) } ?? .null),
              ("fault", record.reason.map { .text($0.name) } ?? .null), ("id", .text(record.id.description)),
            ])
          })
      ),
    ])
  }
}

extension RepairedRecord {
  fileprivate var name: String? { group.flatMap { group in item.map { $0.name(in: group) } } }

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
