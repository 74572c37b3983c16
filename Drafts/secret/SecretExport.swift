import ArgumentParser
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import SecretMemory
import VaultCore

struct SecretExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Copy items into a new vault with a credential of its own.",
    discussion: "To hand items over, or to take them along. Items of this device only, and former versions, stay here.")

  @Option(help: ArgumentHelp("The new vault's file.", valueName: "file"), completion: .file())
  var to: String

  @Option(name: .customLong("group"), help: ArgumentHelp("Only this group; may be given several times.", valueName: "name"))
  var groups: [String] = []

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var new: NewSlotOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let groups = try self.groups.map { try AccessGroup($0) }
    let place = try vault.openPlace()
    try about(to) { try Backup.checkFree(to, of: place.store) }
    let keyFile = try new.openedKeyFile()
    let opened = try vault.open(place)
    var entries: [Entry] = []
    for group in groups.isEmpty ? try opened.groups() : groups {
      entries += try about(group.name) { try opened.entries(in: group).entries }
    }
    let credential = try new.credential(keyFile, isInputAllowed: !vault.noInput, asksAlways: new.newKeyFile == nil)
    let work = try LongWork("copying")
    let transfer = try about(to) { try write(entries, of: opened, credential, place.store, work) }
    work.end()
    opened.finish()
    try report(transfer)
  }

  private func write(
    _ entries: [Entry], of source: borrowing Vault, _ credential: borrowing Credential, _ store: FileStore, _ work: LongWork
  ) throws -> Transfer {
    let file = try Backup.begin(.file(to), of: store)
    var transfer = Transfer()
    try file.build { store in
      var target = try Vault.create(in: store, with: credential, kdf: new.kdf, at: .now())
      for (index, entry) in entries.enumerated() {
        try transfer.copy(entry, from: source, into: &target, isReplacing: false, at: .now())
        if index % 64 == 0 { try work.step(UInt64(index), of: UInt64(entries.count)) }
      }
      try target.close()
    }
    guard try file.appear(at: to) else { throw LifecycleError(.backupExists, to) }
    return transfer
  }

  private func report(_ transfer: Transfer) throws {
    if json {
      let members: [(String, JSON)] = [
        ("path", .text(to)), ("items", .natural(transfer.copied)), ("leftOut", .natural(transfer.leftOut)),
      ]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    try Descriptor.output.write("\(to.escapingControls()): \(counted(transfer.copied, "item"))\n")
    if transfer.leftOut > 0 {
      Descriptor.error.note("note: \(counted(transfer.leftOut, "item")) of this device only left out\n")
    }
  }
}
