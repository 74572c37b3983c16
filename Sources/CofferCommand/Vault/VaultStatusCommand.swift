import ArgumentParser
import CofferConsole
import VaultCore

struct VaultStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the state of the vault and its slots.",
    discussion: "Without a credential in the options, asks for nothing and proves nothing."
  )

  @OptionGroup var vault: VaultOptions

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    let report = try vault.ownedVault().report()
    guard !json else {
      let slots = JSON.array(report.slots.map(\.json))
      return try Descriptor.output.write(JSON.object(report.members + [("slots", slots)]).description + "\n")
    }
    var table = Table(heading: ["FIELD", "VALUE"])
    for (name, value) in report.members { table.rows.append([name, value.plain]) }
    for slot in report.slots { table.rows.append(["slot \(slot.index)", slot.text]) }
    try Descriptor.output.write(table.text(style: .current()))
  }
}

extension SlotDescription {
  /// After a slot was removed or replaced, which sealed the same key.
  static func noteMasterKey(_ credential: String) {
    Descriptor.error.note(
      "note: the master key stays: with a copy of the file from before, \(credential) still opens this vault, also later items\n")
  }

  var text: String {
    guard let kdf else { return type.name }
    return "\(type.name), Argon2id \(kdf.iterations) x \(kdf.memoryKiB / 1024) MiB"
  }

  var json: JSON {
    var members: [(String, JSON)] = [
      ("index", .integer(Int64(index))), ("id", .text(id.description)), ("type", .text(type.name)),
    ]
    if let kdf {
      members.append(("iterations", .natural(UInt64(kdf.iterations))))
      members.append(("memoryKiB", .natural(UInt64(kdf.memoryKiB))))
    }
    return .object(members)
  }
}

extension SlotType {
  var name: String {
    switch self {
    case .passphrase: "passphrase"
    case .recoveryKey: "recovery-key"
    case .keyFile: "key-file"
    case .passphraseAndKeyFile: "passphrase-and-key-file"
    case .external: "external"
    }
  }
}
