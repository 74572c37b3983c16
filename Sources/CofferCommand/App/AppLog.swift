import AppContainers
import ArgumentParser
import Coffer
import CofferAudit
import CofferConsole
import CofferPropertyLists
import DefaultsCommand
import Glibc
import VaultCore

struct AppLog: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "List the decisions about apps: allowed, refused, or begun and failed.",
    discussion: """
      The oldest first. Columns: time, decision, operation, app, group, item, reason, executable; at no terminal without a heading, \
      separated by tabs. An item has its name if the vault can be read, by the agent that is unlocked or by a credential that is \
      named, and else the id of its record. coffer doctor says whether the log is whole.
      """)

  @Argument(help: "TEAM.identifier, or the identifier alone; all apps if none is named.", completion: OfferedNames.apps)
  var app: String?

  @Option(help: ArgumentHelp("Nothing older: 2026-11-21, 2026-11-21T10:00:00Z, 30m, 12h or 7d.", valueName: "time"))
  var since: String?

  @Flag(help: "As JSON, one object in each line.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let start = try since.map { try AuditTime.milliseconds($0) } ?? .min
    let owned = try vault.ownedVault()
    let system = try owned.agentLog(keepsCredential: false)?.history
    let own = try AuditPlace.history()
    let histories = [own, system].compactMap(\.self)
    guard !histories.isEmpty else { return }
    // Names for the ids in the log, of existing items.
    let names = Dictionary(try owned.listedItems().map { ("\($0.reference.id)", $0.name) }) { first, _ in first }
    var isFound = false
    var table = Table(heading: ["TIME", "DECISION", "OPERATION", "APP", "GROUP", "ITEM", "REASON", "BY"])
    try about("the audit log") {
      try AuditHistory.forEachEntry(of: histories) { index, ring, logged in
        guard logged.entry.milliseconds >= start, concerns(logged.entry) else { return }
        isFound = isFound || logged.entry.decision != .noted
        if json {
          try Descriptor.output.write(logged.json(own == nil || index > 0 ? "system" : "user", ring, names).description + "\n")
        } else {
          table.rows.append(logged.entry.columns(names))
        }
      }
    }
    if let app, !isFound { Descriptor.error.note("note: \(app.escapingControls()): nothing of it is in the log\n") }
    if !json { try Descriptor.output.write(table.text(style: .current())) }
    if try histories.contains(where: { try $0.verify().contains { !$0.verification.problems.isEmpty } }) {
      Descriptor.error.note("coffer: warning: the audit log is not whole: coffer doctor says where\n")
    }
  }

  /// Entries about the log itself concern all apps.
  private func concerns(_ entry: AuditEntry) -> Bool {
    guard let app, entry.decision != .noted else { return true }
    return [entry.application, entry.caller.application].contains { RunningApp.isNamed(app, $0) }
  }
}

/// A moment that a person names.
enum AuditTime {
  private static let units: [Character: Int64] = ["m": 60, "h": 3600, "d": 86_400]

  static func text(_ milliseconds: Int64) -> String {
    Timestamp(secondsSince1970: milliseconds.quotientRoundedDown(by: 1000)).text
  }

  /// - Throws: usage.
  static func milliseconds(_ text: String) throws -> Int64 {
    if let last = text.last, let unit = units[last], let count = Int64(text.dropLast()), count >= 0 {
      let (product, hasOverflown) = count.multipliedReportingOverflow(by: unit * 1000)
      if !hasOverflown { return max(0, DecisionLog.now() - product) }
    }
    guard let seconds = DateText.parse(text) else {
      throw Failure.usage("--since \(text): is not a time", hint: "such as 2026-11-21, 2026-11-21T10:00:00Z, 30m, 12h, 7d")
    }
    return Int64((seconds + PropertyListDate.referenceOffset) * 1000)
  }
}

extension LoggedEntry {
  func json(_ log: String, _ ring: AuditRing, _ names: [String: String]) -> JSON {
    .object([
      ("log", .text(log)), ("ring", .text(ring.rawValue)), ("number", .natural(number)), ("time", .text(entry.time)),
      ("decision", .text(entry.decision.rawValue)),
      ("operation", .text(entry.operation)), ("application", .text(entry.application)), ("group", .text(entry.group)),
      ("item", .text(entry.item)), ("name", names[entry.item].map { .text($0) } ?? .null),
      ("reason", .text(entry.reason)), ("user", .natural(UInt64(entry.caller.user))),
      ("process", .integer(Int64(entry.caller.process))), ("executable", .text(entry.caller.executable)),
      ("caller", .text(entry.caller.application)),
    ])
  }
}

extension AuditEntry {
  fileprivate var time: String { AuditTime.text(milliseconds) }

  fileprivate func columns(_ names: [String: String]) -> [String] {
    [time, decision.rawValue, operation, application, group, names[item] ?? item, reason, caller.executable]
  }
}

extension Int64 {
  /// Also before 1970.
  fileprivate func quotientRoundedDown(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
