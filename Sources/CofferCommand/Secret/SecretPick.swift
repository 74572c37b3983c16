import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import SecretMemory
import VaultCore

struct SecretPick: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pick", abstract: "Pick an item from a list, and print its name.",
    discussion: "fzf shows the names, and gets no secret. Without fzf the list is numbered, and a number is asked for.")

  @Flag(help: "Write its secret to standard output instead of its name.")
  var get = false

  @Flag(help: "Copy its secret to the clipboard, as coffer copy does.")
  var clip = false

  @Flag(help: "Pick one of the items with one-time codes, and write its code.")
  var otp = false

  @Option(help: ArgumentHelp("Only this group.", valueName: "name"), completion: OfferedNames.groups)
  var group: String?

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard !(get && clip) else { throw Failure.usage("--get: not with --clip") }
    guard !(get && otp) else { throw Failure.usage("--get: not with --otp") }
    guard vault.isAnybodyThere else {
      throw Failure(.locked, "pick: a person is needed, and there is no terminal", hint: "coffer secret list prints the names")
    }
    let target = try clip ? ClipboardOptions.parse([]).target() : nil
    let group = try group.map { try AccessGroup($0) }
    let items = try access.open(vault)
    if let group, items.application == nil { try items.checkExists(group, hint: "--group names one of these") }
    let entries = try about("pick") { try items.keychain.listing(KeychainQuery(group: group)).entries.shown(of: group) }
      .filter { !otp || CodeItem.isOne($0) }.sorted { ($0.reference.group.name, $0.name) < ($1.reference.group.name, $1.name) }
    guard !entries.isEmpty else {
      throw otp
        ? Failure(.notFound, "pick: there are no one-time codes", hint: "coffer secret set-otp NAME keeps the key of one")
        : Failure(.notFound, "pick: there are no items", hint: "coffer set SERVICE/ACCOUNT")
    }
    let entry = try Self.pick(entries)
    if otp {
      let issued = try IssuedCode(entry, isNext: false, in: items)
      try write(issued.code, of: entry, to: target, items)
      issued.noteTime()
    } else if get || clip {
      try write(items.secret(of: entry, to: clip ? "copy" : "read"), of: entry, to: target, items)
    } else {
      try Descriptor.output.write(entry.nameWithGroup.escapingControls() + "\n")
    }
    items.finish()
  }

  /// - Parameter target: nil: standard output.
  private func write(
    _ secret: borrowing Secret, of entry: Entry, to target: ClipboardOptions.Target?, _ items: OpenItems
  ) throws {
    guard let target else { return try secret.write(to: .output) }
    try ClipboardOptions.parse([]).copy(secret, entry.name, to: target, items, vault)
  }

  /// - Throws: cancelled.
  private static func pick(_ entries: [Entry]) throws -> Entry {
    let names = entries.map { $0.nameWithGroup.escapingControls() }
    let number = try FilterProgram.isThere("fzf") ? askFinder(names) : askNumber(names)
    guard let number, entries.indices.contains(number - 1) else { throw Failure.cancelled }
    return entries[number - 1]
  }

  /// The numbers stand before the names, and are not shown: names may be the same where groups are not told apart.
  private static func askFinder(_ names: [String]) throws -> Int? {
    HiddenTerminal.restore()
    var finder = FilterProgram(["fzf", "--delimiter=\t", "--with-nth=2..", "--prompt=item> "])
    finder.isForPerson = true
    let lines = names.enumerated().map { "\($0.offset + 1)\t\($0.element)\n" }.joined()
    let outcome = try finder.run(limit: 4096) { try $0.write(lines) }
    guard outcome.status == 0 else { return nil }
    return Int(outcome.output.text.prefix { $0 != "\t" })
  }

  private static func askNumber(_ names: [String]) throws -> Int? {
    let width = "\(names.count)".count
    for (index, name) in names.enumerated() {
      let number = "\(index + 1)"
      Descriptor.error.note(String(repeating: " ", count: width - number.count) + "\(number)  \(name)\n")
    }
    return Int(try Person.ask("Number: ", isShown: true, isAllowed: true).text)
  }
}
