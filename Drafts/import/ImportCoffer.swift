import ArgumentParser
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import SecretMemory
import VaultCore

struct ImportCoffer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coffer", abstract: "Copy items from another vault: an export, or a backup.",
    discussion: """
      All items, or those that are named. An item that the vault has already is skipped, unless --replace is given: then its former \
      value stays as a version. Items of a device only stay where they are.
      """)

  @Argument(help: ArgumentHelp("The other vault's file.", valueName: "file"), completion: .file())
  var file: String

  @Argument(help: ArgumentHelp("SERVICE/ACCOUNT, SERVICE or coffer://GROUP/SERVICE/ACCOUNT.", valueName: "name"))
  var names: [String] = []

  @Flag(help: "Replace items of the same name.")
  var replace = false

  @Option(help: ArgumentHelp("Open the other vault with this key file.", valueName: "file"), completion: .file())
  var fromKeyFile: String?

  @Option(
    name: .customLong("from-passphrase-fd"),
    help: ArgumentHelp("Read the other vault's passphrase from this open descriptor.", valueName: "n"))
  var fromPassphraseDescriptor: Int32?

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let names = try self.names.map { try ItemName(parsing: $0) }
    let place = try vault.openPlace()
    let keyFile = try fromKeyFile.map { try Descriptor.openKeyFile($0) }
    let work = try LongWork("reading")
    let copy = try about(file) { try copied(beside: place, work) }
    var target = try vault.open(place)
    let source = try about(file) { try open(copy, keyFile) }
    let entries = try about(file) { try chosen(names, source.entries().entries) }
    work.begin("copying")
    var transfer = Transfer()
    for (index, entry) in entries.enumerated() {
      try about(entry.name) { try transfer.copy(entry, from: source, into: &target, isReplacing: replace, at: .now()) }
      if index % 16 == 0 { try work.step(UInt64(index), of: UInt64(entries.count)) }
    }
    work.end()
    target.finish()
    try report(transfer)
  }

  /// The file is not opened where it lies.
  private func copied(beside place: VaultPlace, _ work: LongWork) throws -> UnnamedVault {
    do {
      return try Backup.copy(of: file, beside: place.store, in: place.backups, step: work.step)
    } catch StorageError(.noVault) {
      throw Failure(.notFound, "\(file): there is no such file")
    }
  }

  private func open(_ copy: borrowing UnnamedVault, _ keyFile: Descriptor?) throws -> Vault {
    let store = try copy.store()
    let kinds = Set(try Vault.inspect(store).slots.map(\.type))
    var options = VaultOptions.unset
    options.passphraseDescriptor = fromPassphraseDescriptor
    options.noInput = vault.noInput
    options.allowExpensiveKDF = vault.allowExpensiveKDF
    return try options.withCredential(kinds, file, keyFile) { credential in
      try Vault.open(store, with: credential, ceiling: vault.ceiling, isCopy: true)
    }
  }

  /// - Throws: `notFound` for a name without an item.
  private func chosen(_ names: [ItemName], _ entries: [Entry]) throws -> [Entry] {
    guard !names.isEmpty else { return entries }
    var chosen: [Entry] = []
    for name in names {
      let found = entries.filter { entry in
        let parts = ItemName.parts(of: entry.item)
        return parts.service == name.service && (name.account == nil || parts.account == name.account)
          && (name.group == nil || entry.reference.group.name == name.group)
      }
      guard !found.isEmpty else { throw Failure(.notFound, "\(file): \(name): no such item") }
      chosen += found.filter { entry in !chosen.contains { $0.reference == entry.reference } }
    }
    return chosen
  }

  private func report(_ transfer: Transfer) throws {
    if json {
      let members: [(String, JSON)] = [
        ("items", .natural(transfer.copied)), ("replaced", .natural(transfer.replaced)), ("skipped", .natural(transfer.skipped)),
        ("leftOut", .natural(transfer.leftOut)),
      ]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    var parts = [counted(transfer.copied, "item")]
    if transfer.replaced > 0 { parts.append("\(transfer.replaced) replaced") }
    if transfer.skipped > 0 { parts.append("\(transfer.skipped) there already") }
    if transfer.leftOut > 0 { parts.append("\(transfer.leftOut) of a device only left out") }
    try Descriptor.output.write(parts.joined(separator: ", ") + "\n")
  }
}
