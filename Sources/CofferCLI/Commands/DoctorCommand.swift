import ArgumentParser
import AuditLog

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check what Coffer has written beside the vault: the audit log.",
    discussion: """
      Prints how many entries there are, and the end of the chain, to be kept elsewhere and named with --end another time. Ends with 9 \
      where the chain is broken. The vault itself: coffer vault verify. Settings: coffer defaults doctor.
      """)

  @Option(help: ArgumentHelp("An end that was printed before: the log must go on from there.", valueName: "number:digest"))
  var end: String?

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    let kept = try end.map { text in
      guard let chain = AuditChain(text) else {
        throw Failure.usage("--end \(text): is no end of a chain", hint: "coffer doctor prints one: NUMBER:DIGEST")
      }
      return chain
    }
    let verification = try about("the audit log") {
      try AuditReading(of: AuditPlace.state()).map { try AuditVerification($0, continuing: kept) }
    }
    let problems = verification?.problems ?? kept.map { [.notContinued($0.number)] } ?? []
    let count = verification?.count ?? 0
    if json {
      let members: [(String, JSON)] = [
        ("whole", .boolean(problems.isEmpty)), ("entries", .natural(count)),
        ("unfinished", .integer(Int64(verification?.unfinishedCount ?? 0))),
        ("end", (verification?.end).map { .text($0.text) } ?? .null), ("problems", .array(problems.map { .text($0.text) })),
      ]
      try Descriptor.output.write(JSON.object([("auditLog", .object(members))]).description + "\n")
    } else if problems.isEmpty {
      let end = verification?.end.map { ", ends with \($0.text)" } ?? ""
      try Descriptor.output.write("audit log: \(count == 1 ? "1 entry" : "\(count) entries"), whole\(end)\n")
      if let count = verification?.unfinishedCount, count > 0 {
        let entries = count == 1 ? "1 entry was" : "\(count) entries were"
        Descriptor.error.note("note: \(entries) not finished, by a kill or a full disk; what was written is kept in the log\n")
      }
    }
    guard !problems.isEmpty else { return }
    let hint =
      verification?.mayBePowerFailure == true
      ? "where the power has failed, entries may be missing that were not synced"
      : "somebody has changed its files; keep a copy of them before you do anything"
    throw Failure(.integrity, "the audit log: is not whole", hint: hint, details: problems.map(\.text))
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
    case .unreadable(let number): "after entry \(number): bytes that are no entry"
    case .beginsLate(let number): "before entry \(number): entries are missing, and the log has not removed them"
    case .wereMissing(let number): "entry \(number): says that entries were missing when it was written"
    case .headWasWrong(let number): "entry \(number): says that the end of the log was not known when it was written"
    case .headIsWrong: "the end of the log is not known, or another one: the file head is missing or was changed"
    case .notContinued(let number): "entry \(number): is not the one that was named"
    }
  }
}
