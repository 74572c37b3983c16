import ArgumentParser
import Coffer
import CofferConsole
import CofferWire
import VaultCore

struct AccessList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List which programs may use the items of a group, and why.",
    discussion: """
      Columns: group, item, program, rights, reason; at no terminal without a heading, separated by tabs. A line with an item and no \
      program is an item that asks its owner first; one whose reason begins with "lease" ends with coffer access revoke. The owner, by \
      the passphrase, a recovery key or the only key file, may do everything and is not listed. Asks for nothing while the agent is \
      unlocked.
      """, aliases: ["ls"])

  @Argument(help: "A group or an item; all groups if none is named.", completion: OfferedNames.groups)
  var subject: String?

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let owned = try vault.ownedVault()
    let opened = try owned.apps(isReading: true)
    let rules = try AccessRows(in: opened, leases: owned.leases())
    let rows = try subject.map { try rules.of($0, in: opened) } ?? rules.rows
    opened.finish()
    guard !json else { return try Descriptor.output.write(JSON.array(rows.map(\.json)).description + "\n") }
    let table = Table(heading: ["GROUP", "ITEM", "PROGRAM", "RIGHTS", "REASON"], rows: rows.map(\.columns))
    try Descriptor.output.write(table.text(style: .current()))
  }
}

struct AccessRevoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "End a lease: the owner is asked again.",
    discussion: "coffer access list shows the leases. coffer app revoke takes back a grant.")

  @Argument(help: "The number of the lease.")
  var lease: UInt64

  @OptionGroup var agent: AgentOptions

  func run() throws {
    do {
      try agent.keychain().endLease(lease)
    } catch KeychainError.Code.notFound {
      throw Failure(.notFound, "lease \(lease): does not exist", hint: "coffer access list shows those that are open")
    }
  }
}
