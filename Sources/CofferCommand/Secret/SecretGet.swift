import ArgumentParser
import Coffer
import CofferConsole
import ProgramSecrets
import SecretMemory
import VaultCore

struct SecretGet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Write a secret to standard output.",
    discussion:
      "Exactly its bytes; at a terminal with a line end. coffer://GROUP/SERVICE/ACCOUNT#NAME writes an attribute instead."
  )

  @OptionGroup var item: ItemOptions

  @Option(name: .customLong("out-fd"), help: ArgumentHelp("Write to this open descriptor instead.", valueName: "n"))
  var outputDescriptor: Int32?

  @Option(help: ArgumentHelp("A former version, as coffer secret history lists it.", valueName: "n"))
  var version: UInt64?

  @Flag(help: "As JSON, with the secret in base64.")
  var json = false

  @Flag(help: "Copy to the clipboard instead, as coffer copy does.")
  var clip = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let selection = try Selection(item)
    if clip {
      guard !json, outputDescriptor == nil, version == nil else {
        throw Failure.usage("--clip: not with --json, --out-fd or --version")
      }
      return try SecretCopy.copy(selection, ClipboardOptions.parse([]), access, vault)
    }
    let output = try outputDescriptor.map { try Descriptor.given($0, by: "--out-fd", isOutput: true) } ?? .output
    if let version { return try writeVersion(version, selection, to: output) }
    let items = try access.open(vault)
    let (entry, attribute) = try items.selected(selection)
    if let attribute {
      try write(attribute, named: selection.name.field ?? "", to: output)
      return items.finish()
    }
    let secret = try items.secret(of: entry, to: "read")
    if json {
      try write(entry.members(), secret, to: output)
    } else {
      try secret.write(to: output)
    }
    items.finish()
  }

  private func writeVersion(_ version: UInt64, _ selection: Selection, to output: Descriptor) throws {
    var name = ""
    let secret = try access.withVersions(of: selection, vault) { keychain, found in
      name = found.name
      return try keychain.secret(of: found.reference, version: version, purpose: "read version \(version) of \(name)")
    }
    guard json else { return try secret.write(to: output) }
    try write([("name", .text(name)), ("version", .natural(version))], secret, to: output)
  }

  private func write(_ value: AttributeValue, named field: String, to output: Descriptor) throws {
    if json { return try output.write(JSON.object([(field, try value.json())]).description + "\n") }
    try output.write(output.isTerminal ? value.text.escapingControls() + "\n" : value.text)
  }

  private func write(_ members: [(String, JSON)], _ secret: borrowing Secret, to output: Descriptor) throws {
    try output.write(members + [("encoding", .text("base64"))], "secret", Base64.encode(secret))
  }
}
