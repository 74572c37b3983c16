import ArgumentParser
import CofferConsole
import CofferWire
import SecretMemory
import VaultCore

struct VaultPolicy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy", abstract: "Show or set the limits of a vault.",
    discussion: """
      Without an argument all limits are shown; with NAME=VALUE one is set. history-versions (0 to 64; 10 unless set): how many versions of \
      an item are kept, the last one of a removed item included. history-days (0 to 3650; 90): for how long. idle-minutes (0 to 10080; 0: \
      as the agent was started): after how much time without use the agent locks the vault, unless it was started with a shorter --idle. \
      kdf-passes (3 to 64; 3) and kdf-memory (65536 to 4194304 KiB; 262144): the cost of a new passphrase; no slot gets less than what \
      is set.
      """)

  @Argument(help: ArgumentHelp("A limit and its value.", valueName: "name=value"))
  var limits: [String] = []

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    var changes: [Limits.Name: UInt64] = [:]
    for text in limits {
      let (name, value) = try Self.change(text)
      guard changes.updateValue(value, forKey: name) == nil else {
        throw Failure.usage("\(name.rawValue): is set twice", hint: "name each limit once")
      }
    }
    let report = try vault.ownedVault().policy(setting: changes)
    if report.wasDamaged {
      Descriptor.error.note("note: the policy was damaged; limits that are not named have their standard values now\n")
    }
    if changes[.historyVersions] != nil || changes[.historyDays] != nil { Self.noteRemoval(report.limits) }
    try print(report.limits)
  }

  private static func noteRemoval(_ limits: Limits) {
    let keepsNone = limits.value(.historyVersions) == 0 || limits.value(.historyDays) == 0
    Descriptor.error.note(
      keepsNone
        ? "note: no former version is kept: those of an item go for good when it is written, all others at coffer secret purge --expired "
          + "and when an agent is unlocked; a secret that is replaced is gone\n"
        : "note: former versions beyond these limits are removed for good: when their item is written, at coffer secret purge --expired and "
          + "when an agent is unlocked\n")
  }

  private static func change(_ text: String) throws -> (Limits.Name, UInt64) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw Failure.usage("\(text): needs a name and a value", hint: "coffer vault policy NAME=VALUE")
    }
    guard let name = Limits.Name(rawValue: String(parts[0])) else {
      let names = Limits.Name.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure.usage("\(parts[0]): is not a limit", hint: "the limits are \(names)")
    }
    let (least, most) = (name.range.lowerBound, name.range.upperBound)
    guard let value = UInt64(parts[1]) else {
      throw Failure.usage("\(text): \(name.rawValue) is a number of \(least) to \(most)")
    }
    guard name.range.contains(value) else { throw Failure(VaultError(.limitOutOfRange, "\(least) to \(most)"), about: text) }
    return (name, value)
  }

  private func print(_ limits: Limits) throws {
    if json {
      let members = Limits.Name.allCases.map { ($0.rawValue, JSON.natural(limits.value($0))) }
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    let rows = Limits.Name.allCases.map { [$0.rawValue, "\(limits.value($0))", limits[$0] == nil ? "standard" : "set"] }
    try Descriptor.output.write(Table(heading: ["LIMIT", "VALUE", ""], rows: rows).text(style: .current()))
  }
}

extension Failure {
  /// A policy whose limits cannot be read.
  static func damagedPolicy(_ error: any Error) -> Failure {
    Failure(
      .integrity, Failure(error, about: "policy").message, hint: "coffer vault policy NAME=VALUE sets all limits anew")
  }
}
