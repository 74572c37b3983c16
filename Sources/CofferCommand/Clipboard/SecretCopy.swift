import ArgumentParser
import CofferConsole
import SecretMemory

struct SecretCopy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a secret to the clipboard, which is cleared after 45 seconds.",
    discussion: """
      wl-copy or xclip copies. The clipboard is cleared earlier if the vault is locked, and left as it is if it holds \
      another text.
      """)

  @OptionGroup var item: ItemOptions
  @OptionGroup var clipboard: ClipboardOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws { try Self.copy(Selection(item), clipboard, access, vault) }

  static func copy(
    _ selection: Selection, _ clipboard: ClipboardOptions, _ access: AccessOptions, _ vault: VaultOptions
  ) throws {
    let target = try clipboard.target()
    let items = try access.open(vault)
    let found = try items.selected(selection)
    let text: Secret
    if let attribute = found.attribute {
      text = try Secret(copying: Array(attribute.text.utf8))
    } else {
      text = try items.secret(of: found.entry, to: "copy")
    }
    try clipboard.copy(text, found.entry.name, to: target, items, vault)
    items.finish()
  }
}
