import Coffer
import CofferConsole
import CofferFiles
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// `coffer sweep --move`: each secret is in its file, in the vault, or in both, at every moment. The vault has it on the disk, and it was
/// read back, before the file is touched. The same command again finishes one that was interrupted.
struct SweepMove {
  private let files: [SweptFile]
  private let isForced: Bool

  init(_ files: [SweptFile], isForced: Bool) {
    self.files = files
    self.isForced = isForced
  }

  func run(_ access: AccessOptions, _ vault: VaultOptions, asJSON isJSON: Bool) throws {
    let chosen = try files.map { $0.keeping(try agreed($0)) }
    var moved: [(file: SweptFile, finding: SweepFinding, item: String)] = []
    var staying: [(place: SweepPlace, finding: SweepFinding)] = []
    var failures = chosen.compactMap(leftover)
    if chosen.contains(where: { !$0.findings.isEmpty }) {
      let items = try access.open(vault)
      guard try !items.keychain.isLocked else { throw Failure(VaultError(.locked), about: "the vault") }
      let turn = try SweepNote.turn()
      defer { withExtendedLifetime(turn) {} }
      for file in chosen where !file.findings.isEmpty {
        do {
          if file.place.kind == .privateKey { try vault.checkIsOfSSH() }
          let outcome = try move(file, items)
          moved += outcome.moved.map { (file, $0.finding, $0.name) }
          staying += outcome.staying.map { (file.place, $0) }
        } catch {
          failures.append(Failure(error, about: file.place.path))
          if failures.last?.status == .cancelled { break }
        }
      }
      items.finish()
    }
    let left = files.map { file in
      let others = file.findings.filter { one in !moved.contains { $0.file.place == file.place && $0.finding.isSame(as: one) } }
      return file.keeping(
        others.map { one in staying.first { $0.place == file.place && $0.finding.isSame(as: one) }?.finding ?? one })
    }
    try SweepReport(left, moved: moved).write(asJSON: isJSON)
    note(moved)
    for failure in failures.dropFirst() { Descriptor.error.note(failure.text) }
    if let failure = failures.first { throw failure }
    let count = left.reduce(0) { $0 + $1.findings.count }
    guard count == 0 else { throw Failure(.notFound, "\(counted(count, "secret")) left in files") }
    try SweepReport.check(files)
  }

  /// A sweep that was killed has left secrets beside a file that may have none. No `FileReplacement` removes them then, nor those
  /// beside a key.
  /// - Returns: what keeps such a file there.
  private func leftover(beside file: SweptFile) -> Failure? {
    guard let content = file.content else { return nil }
    do {
      try TemporaryName.removeLeftovers(for: content.path)
      return nil
    } catch {
      return Failure(error, about: content.path)
    }
  }

  /// The secrets that the person lets go.
  private func agreed(_ file: SweptFile) throws -> [SweepFinding] {
    try file.findings.filter { finding in
      guard finding.isMovable else { return false }
      guard !isForced else { return true }
      let place = "\(file.place.path):\(finding.line): \(finding.name) (\(finding.rule))"
      return try Question.isYes("\(place): move it to the vault? [y/N] ".escapingControls())
    }
  }

  struct Outcome {
    var moved: [(finding: SweepFinding, name: String)] = []
    /// The secrets that the vault cannot take, with the reason.
    var staying: [SweepFinding] = []
  }

  func move(_ file: SweptFile, _ items: OpenItems) throws -> Outcome {
    guard let content = file.content else { return Outcome() }
    // Before the record has what this sweep leaves: another one may have been at work since the look at the file.
    try content.checkIsUnchanged()
    if file.place.kind == .privateKey {
      let name = try SSHKeyMove(file.place, content, items).run()
      return Outcome(moved: file.findings.map { ($0, name) })
    }
    let replacement = try FileReplacement(of: content)
    let record = try SweepRecord(of: content, at: file.place, in: items)
    let found = file.findings.compactMap { finding in finding.item.map { (finding: finding, item: $0.marked(by: record)) } }
    // Profiles and hosts are unique, so that only one name leads to the secret.
    let plan = try ForeignPlan(
      for: found.map(\.item), in: items, group: .standard, LongWork("comparing"), isRenaming: false)
    let staying = plan.conflicts.map { found[$0.index].finding.staying($0.words) }
    let pairs = found.indices.filter { index in !plan.conflicts.contains { $0.index == index } }
      .map { (finding: found[$0].finding, item: found[$0].item.item) }
    guard !pairs.isEmpty else { return Outcome(staying: staying) }
    let result = try FileEdit(content.text, pairs).result()
    let settings = try ProgramSettings(for: pairs.map(\.finding), in: file.place)
    try record.keep(left: result, values: plan.steps.map(\.secret), settings: settings)
    try plan.carryOut(in: items, LongWork("copying"))
    try readBack(plan, content, record, items)
    try settings.carryOut()
    try replacement.place(result)
    return Outcome(moved: pairs.map { ($0.finding, $0.item.name(in: .standard)) }, staying: staying)
  }

  /// Attributes without which a secret is of no use.
  static let belongings = [AWSFormat.accessKey, KubeFormat.certificate]

  /// A secret that the vault does not give back stays in its file. An item that another file needs as well goes with the last one.
  private func readBack(_ plan: ForeignPlan, _ content: ReadFile, _ record: SweepRecord, _ items: OpenItems) throws {
    for step in plan.steps {
      guard let entry = try items.item(step.item, in: .standard),
        try items.keychain.secret(of: entry.reference, purpose: SweepRecord.purpose).isEqual(to: step.secret.secret)
      else { throw Failure(.integrity, "\(content.path): the vault does not give the secret back; the file stays") }
      guard entry.item[ForeignItem.kind] == step.item[ForeignItem.kind] else {
        let kind = step.item[ForeignItem.kind] ?? ""
        throw Failure(
          .duplicate, "\(step.nameWithGroup): is there, and \(kind) would not find it; \(content.path) stays",
          hint: "coffer secret edit \(ShellWord.quoted(step.nameWithGroup)) --attr kind=\(kind)")
      }
      if Self.belongings.contains(where: { entry.item[$0] != step.item[$0] }) {
        throw Failure(
          .duplicate, "\(step.nameWithGroup): is there, and belongs to another ID or certificate; \(content.path) stays",
          hint: "look which of the two is right, then remove the other: coffer secret rm")
      }
      try record.share(entry)
    }
  }

  private func note(_ moved: [(file: SweptFile, finding: SweepFinding, item: String)]) {
    guard !moved.isEmpty else { return }
    var hints: [String] = []
    for (file, finding, _) in moved {
      guard case .reference = finding.way else { continue }
      let line =
        file.place.kind == .variables
        ? "coffer run --env-file \(ShellWord.quoted(file.place.path)) -- PROGRAM" : "coffer run -- PROGRAM, in a new shell"
      if !hints.contains(line) { hints.append(line) }
    }
    for hint in hints { Descriptor.error.note("hint: \(hint.escapingControls())\n") }
    let names = moved.map { "  \($0.finding.name) (\($0.finding.rule))\n".escapingControlsInLines() }
    Descriptor.error.note(
      "note: backups, history and git may still have them. Renew at their source:\n" + names.joined())
  }
}

extension SweepFinding {
  fileprivate func isSame(as other: SweepFinding) -> Bool { line == other.line && name == other.name }
}

extension ForeignPlan.Conflict {
  fileprivate var words: String {
    let file = present?.item[SweepRecord.sweptFrom]?.split(separator: "\n").first.map { ", out of \($0)" } ?? ""
    return "the vault has another secret as \(nameWithGroup)\(file)"
  }
}

extension ForeignItem {
  fileprivate func marked(by record: SweepRecord) -> ForeignItem {
    var item = self
    record.mark(&item.item)
    return item
  }
}
