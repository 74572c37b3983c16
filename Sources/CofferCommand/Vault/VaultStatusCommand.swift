import ArgumentParser
import Coffer
import CofferConsole
import CofferStorage
import CofferWire
import VaultCore

struct VaultStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "What the vault says of itself.",
    discussion: "Without a credential in the options nothing is asked, and nothing of what is shown is proven."
  )

  @OptionGroup var vault: VaultOptions

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    if let keychain = try vault.systemAgent() {
      let status = try about(VaultOptions.systemVault) { try keychain.vaultStatus() }
      return try print(
        [
          ("path", .text(VaultOptions.systemVault)), ("id", .text(status.id.description)),
          ("created", .text(status.created.text)),
          ("generation", .natural(status.generation)), ("records", .natural(status.recordCount)),
          ("check", .text(status.checkCode)), ("proven", .boolean(false)),
          ("agent", .text("system, \(try keychain.stateText())")),
        ], status.slots)
    }
    let place = try vault.openPlace()
    // Before the vault is opened, which may bring in what is outside.
    let outside = place.store.logByteCount
    let status = try about(place.path) { try read(place) }
    try print(
      [
        ("path", .text(place.path)), ("id", .text(status.id.description)), ("created", .text(status.created.text)),
        ("generation", .natural(status.generation)), ("records", .natural(status.recordCount)),
        ("check", .text(status.checkCode)), ("outside", .natural(UInt64(outside))), ("proven", .boolean(status.isProven)),
        ("agent", .text(try Keychain.connect(toAgentAt: vault.socket()).stateText())),
      ], status.slots)
  }

  private func print(_ members: [(String, JSON)], _ slots: [SlotDescription]) throws {
    guard !json else {
      let array = JSON.array(slots.map(\.json))
      return try Descriptor.output.write(JSON.object(members + [("slots", array)]).description + "\n")
    }
    var table = Table(heading: ["FIELD", "VALUE"])
    for (name, value) in members { table.rows.append([name, value.plain]) }
    for slot in slots { table.rows.append(["slot \(slot.index)", slot.text]) }
    try Descriptor.output.write(table.text(style: .current()))
  }

  private func read(_ place: VaultPlace) throws -> VaultStatus {
    let isAsked =
      vault.keyFile != nil || vault.passphraseDescriptor != nil || vault.recoveryKey || vault.recoveryKeyDescriptor != nil
    guard isAsked else { return try Vault.inspect(place.store) }
    let opened = try vault.open(place)
    let status = try opened.status()
    opened.finish()
    return status
  }
}

extension SlotDescription {
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
