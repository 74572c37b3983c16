import ArgumentParser
import CofferConsole
import VaultCore
import VaultUpkeep

struct GroupList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the groups, and what is in them.",
    discussion: """
      Columns: group, items, former versions, classes; at no terminal without a heading, separated by tabs. Items of other devices are \
      counted too. Asks for nothing while the agent is unlocked: then the groups that coffer may list.
      """, aliases: ["ls"])

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let opened = try vault.ownedVault().apps(isReading: true)
    let groups = try opened.groupContents()
    opened.finish()
    guard !json else { return try Descriptor.output.write(JSON.array(groups.map(\.json)).description + "\n") }
    var table = Table(heading: ["GROUP", "ITEMS", "FORMER", "CLASSES"])
    for group in groups {
      let classes = group.classes.map { "\($0.name) \($0.count)" }.joined(separator: ", ")
      table.rows.append([group.group.name, "\(group.itemCount)", "\(group.formerCount)", classes])
    }
    try Descriptor.output.write(table.text(style: .current()))
    for group in groups {
      guard let rekey = group.rekey else { continue }
      let done = "\(rekey.done) of \(rekey.total)"
      Descriptor.error.note(
        "note: \(group.group.name.escapingControls()): a re-key is not finished, \(done); coffer vault rotate goes on\n")
    }
  }
}

extension GroupContents {
  fileprivate var classes: [(name: String, count: UInt64)] {
    Accessibility.allCases.compactMap { accessibility in
      itemCounts[accessibility].map { (AccessibilityName(accessibility).rawValue, $0) }
    }
  }

  fileprivate var json: JSON {
    .object([
      ("name", .text(group.name)), ("items", .natural(itemCount)),
      ("classes", .object(classes.map { ($0.name, .natural($0.count)) })), ("former", .natural(formerCount)),
      ("grantees", .array(grantees.map { .text($0) })),
      ("rekey", rekey.map { .object([("done", .natural($0.done)), ("total", .natural($0.total))]) } ?? .null),
    ])
  }
}
