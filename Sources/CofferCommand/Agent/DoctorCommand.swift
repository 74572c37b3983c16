import ArgumentParser
import CofferAudit
import CofferConsole

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check the audit log, the backups, the last log-in, and whether the vault can be read.",
    discussion: """
      Also the log of the system's agent, if that keeps the vault, is unlocked, or is unlocked by a credential that is named. \
      Prints how many entries there are and since when, and the end of the log, to be kept elsewhere and named with --end another time. \
      Ends with 9 if the log is broken or was removed. Prints the age of the newest backup and of the last trial restore, and the files \
      that killed commands have left, also in memory, each with the command that helps, and why the password of the last log-in did \
      not open the vault, if pam_coffer is used. Of each space of coffer sync it prints how far this device is, and what needs a \
      person. Ends with 9, too, if the header or the slots of the vault cannot be read, or if it is an older state than the one last seen \
      here; its items: coffer vault verify. Settings: coffer defaults doctor.
      """)

  @Option(help: ArgumentHelp("The end that was printed before: the log must go on from there.", valueName: "end"))
  var end: String?

  @Option(help: ArgumentHelp("Likewise, of the log of the system's agent.", valueName: "end"))
  var systemEnd: String?

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let (kept, keptOfSystem) = (try ends(end, "--end"), try ends(systemEnd, "--system-end"))
    let owned = try vault.ownedVault()
    let agentLog = try owned.agentLog(keepsCredential: false)
    let own = try AuditPlace.history()
    let state = try AuditPlace.state()
    var checks = [
      (name: "audit log", member: "auditLog", check: try AuditCheck(own, continuing: kept) { try AuditPlace.witness(in: state) })
    ]
    if let agentLog, agentLog.history != nil || keptOfSystem != nil {
      let check = try AuditCheck(agentLog.history, continuing: keptOfSystem) { nil }
      checks.append((name: "audit log of the system's agent", member: "systemAuditLog", check: check))
    }
    let backups = try owned.backupState().map(BackupCheck.init)
    let logIn = try LogInNote.last()
    let damage = Self.damage(of: owned)
    let scratch = ScratchDirectory.leftovers()
    let spaces = SyncCheck(in: state, isJSON: json)
    if json {
      var members = checks.map { ($0.member, $0.check.json) }
      if let backups { members.append(("backups", backups.json)) }
      if let spaces { members.append(("sync", spaces.json)) }
      members += [
        ("leftInMemory", .array(scratch.map { .text($0) })), ("logIn", logIn?.json ?? .null),
        ("vaultDamage", damage.map { .text($0.message) } ?? .null),
      ]
      try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    for (name, _, check) in checks {
      if !json, check.problems.isEmpty { try Descriptor.output.write("\(name): \(check.text)\n") }
      if !json || !check.problems.isEmpty { for note in check.notes { Descriptor.error.note("note: \(note)\n") } }
    }
    if PassphraseStrength.program == nil {
      Descriptor.error.note(
        "note: coffer-strength is missing: the strength of a new passphrase is not estimated; install Coffer again\n")
    }
    var lines = backups?.lines ?? []
    for path in scratch {
      lines.append("secrets left in memory by a command that was killed: \(path); rm -r \(ShellWord.quoted(path)) removes them")
    }
    if let logIn { lines.append(logIn.line) }
    lines += spaces?.lines ?? []
    if !json { for line in lines { try Descriptor.output.write("\(line.escapingControls())\n") } }
    if let broken = checks.first(where: { !$0.check.problems.isEmpty }) {
      throw Failure(
        .integrity, "the \(broken.name): is not whole", hint: broken.check.hint,
        details: checks.flatMap { $0.check.problems } + (damage.map { [$0.message] } ?? []))
    }
    if let damage { throw damage }
  }

  /// Returns nil if the header and the slots can be read, and are of no older state than was seen here. Also if there is no vault, or if its
  /// agent does not answer.
  private static func damage(of owned: any OwnedVault) -> Failure? {
    do {
      _ = try owned.slots()
      try owned.checkAge()
    } catch {
      let failure = Failure(error)
      return failure.status == .integrity ? failure : nil
    }
    return nil
  }

  private func ends(_ text: String?, _ option: String) throws -> AuditEnds? {
    try text.map { text in
      guard let ends = AuditEnds(text) else {
        throw Failure.usage(
          "\(option) \(text): is not an end of the log",
          hint: "coffer doctor prints it: NUMBER:DIGEST,NUMBER:DIGEST,NUMBER:DIGEST")
      }
      return ends
    }
  }
}

/// The state of the log, according to its files and the files beside them.
private struct AuditCheck {
  private let rings: [(ring: AuditRing, verification: AuditVerification)]
  /// Whether there is a directory of the log.
  private let exists: Bool
  private(set) var problems: [String] = []

  /// - Parameter witness: The evidence that there was a log, if there is none.
  init(_ history: AuditHistory?, continuing kept: AuditEnds?, witness: () throws -> String?) throws {
    let found = try about("the audit log") { try history.map { try $0.verify(continuing: kept) } }
    exists = found != nil
    rings = found ?? []
    problems = rings.flatMap { ring, verification in verification.problems.map { "\(ring.rawValue), \($0.text)" } }
    guard !exists else { return }
    if let kept, !kept.chains.isEmpty { problems.append("it was removed, with the end that was named") }
    if kept == nil, let witness = try witness() { problems.append("it was removed: \(witness)") }
  }

  private var count: UInt64 { rings.reduce(0) { $0 + $1.verification.count } }
  private var unfinishedCount: Int { rings.reduce(0) { $0 + $1.verification.unfinishedCount } }

  private var ends: AuditEnds? {
    let chains = rings.compactMap { ring, verification in verification.end.map { (ring, $0) } }
    return chains.isEmpty ? nil : AuditEnds(Dictionary(uniqueKeysWithValues: chains))
  }

  /// Without a problem.
  var text: String {
    guard exists else { return "none" }
    guard let ends else { return "no entries yet" }
    let since = rings.compactMap { $0.verification.since }.min().map { " since \(AuditTime.text($0))" } ?? ""
    return "\(count == 1 ? "1 entry" : "\(count) entries")\(since), whole, ends with \(ends.text)"
  }

  var notes: [String] {
    var notes: [String] = []
    if unfinishedCount > 0 {
      let entries = unfinishedCount == 1 ? "1 entry was" : "\(unfinishedCount) entries were"
      notes.append("\(entries) not finished, by a kill or a full disk; the bytes that were written are kept in the log")
    }
    for (ring, verification) in rings where verification.isKeptTooOld {
      notes.append(
        "\(ring.rawValue): the entry that was named was dropped for newer ones; whether the log continues it can't be told")
    }
    return notes
  }

  var hint: String {
    rings.contains { $0.verification.mayBePowerFailure }
      ? "if the power has failed, entries may be missing that were not synced"
      : "another program has changed its files; keep a copy of them before you do anything"
  }

  var json: JSON {
    .object([
      ("exists", .boolean(exists)), ("whole", .boolean(ends != nil && problems.isEmpty)), ("entries", .natural(count)),
      ("unfinished", .integer(Int64(unfinishedCount))), ("end", (ends?.text).map { .text($0) } ?? .null),
      ("problems", .array(problems.map { .text($0) })),
    ])
  }
}

extension AuditVerification.Problem {
  fileprivate var text: String {
    switch self {
    case .changed(let number): "entry \(number): it was changed, or what stands before it was"
    case .missing(let numbers):
      numbers.count == 1
        ? "entry \(numbers.lowerBound): missing" : "entries \(numbers.lowerBound) to \(numbers.upperBound): missing"
    case .outOfOrder(let number): "entry \(number): stands behind a later one"
    case .unreadable(let number): "after entry \(number): bytes that are not an entry"
    case .beginsLate(let number): "before entry \(number): entries are missing, and the log has not removed them"
    case .wereMissing(let number): "entry \(number): says that entries were missing when it was written"
    case .headWasWrong(let number): "entry \(number): says that the end of the log was not known when it was written"
    case .headIsWrong: "the end of the log is not known, or another one: the file head is missing or was changed"
    case .notContinued(let number): "entry \(number): is not the one that was named"
    }
  }
}
