import ArgumentParser
import Coffer
import CofferConsole
import CofferRequests
import Glibc
import SecretMemory

struct SecretEdit: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change attributes of an item, or its secret in an editor.",
    discussion:
      "With options only the attributes are changed. Without, the secret opens in $VISUAL, $EDITOR, editor or vi, in a file in memory."
  )

  @OptionGroup var item: ItemOptions
  @OptionGroup var attributes: AttributeOptions

  @Option(parsing: .singleValue, help: ArgumentHelp("Remove this attribute. May be repeated.", valueName: "name"))
  var removeAttr: [String] = []

  @Option(help: "Seal the item anew in this class: when the secret can be read, and whether only on this machine.")
  var accessible: AccessibilityName?

  @OptionGroup var plainText: PlainTextOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let selection = try Selection(item)
    guard selection.name.field == nil else { throw Failure.usage("name: fields are edited with --attr NAME=VALUE") }
    if attributes.isEmpty, removeAttr.isEmpty, accessible == nil {
      try editSecret(selection)
    } else {
      try editAttributes(selection)
    }
  }

  private func editAttributes(_ selection: Selection) throws {
    let changes = try attributes.changes(for: selection.itemClass)
    try plainText.check(changes)
    let removed = try removeAttr.map { name in
      let stored = AttributeName.stored(name, selection.itemClass)
      guard AttributeName.isSettable(stored) else { throw Failure.usage("--remove-attr \(name): is kept by the vault itself") }
      return stored
    }
    let agent = try vault.ownedVault().agentItems(access)
    let place = try agent == nil ? vault.openPlace(forItem: accessible) : nil
    let items = try agent ?? access.open(vault, place ?? vault.openPlace())
    let entry = try selection.one(in: items)
    try place?.keepNewDeviceKey()
    try about(entry.name) {
      _ = try items.keychain.update(entry.reference, accessible: accessible?.accessibility) { item in
        for name in removed {
          guard item.attributes[name] != nil else { throw Failure(.notFound, "\(entry.name): has no attribute \(name)") }
          item.attributes[name] = nil
        }
        item.apply(changes)
      }
    }
    // Another class makes no version.
    if !changes.isEmpty || !removed.isEmpty { entry.hintAtRestoring(in: items.keychain) }
    items.finish()
  }

  private func editSecret(_ selection: Selection) throws {
    guard !vault.noInput, Descriptor.input.isTerminal, Descriptor.output.isTerminal else {
      throw Failure(
        .locked, "edit: an editor needs a terminal",
        hint: "coffer secret set --update NAME reads the new secret from standard input")
    }
    let editor = try Editor.command()
    let items = try access.open(vault)
    let entry = try selection.one(in: items)
    let before = try about(entry.name) {
      try items.keychain.secret(of: entry.reference, purpose: "read and change \(entry.nameWithGroup)")
    }
    let after = try edited(before, with: editor)
    guard !after.isEqual(to: before) else { return Descriptor.error.note("\(entry.name.escapingControls()): unchanged\n") }
    try about(entry.name) {
      do {
        // Only if it was not changed meanwhile: the newer value would be overwritten.
        try items.keychain.update(entry, secret: after)
      } catch let error as KeychainError where error.code == .conflict {
        throw Failure(.inputOutput, "\(entry.name): has been changed meanwhile; your edit is not stored", hint: "edit again")
      }
    }
    entry.hintAtRestoring(in: items.keychain)
    items.finish()
  }

  /// Editors end a file with a line end; one that was not there before is dropped.
  private func edited(_ before: borrowing Secret, with editor: String) throws -> Secret {
    let signals = try ChildProcess.blockSignals()
    var after = try Secret(count: 0)
    var ending: Int32?
    try throughFile(before, editor, signals, &after, &ending)
    if let ending {
      signals.letThrough(ending)
      throw Failure.cancelled
    }
    if !before.endsLine, after.endsLine { after.truncate(to: after.count - 1) }
    return after
  }

  /// The file is gone when this returns or throws.
  private func throughFile(
    _ before: borrowing Secret, _ editor: String, _ signals: borrowing BlockedSignals, _ after: inout Secret,
    _ ending: inout Int32?
  ) throws {
    let scratch = try ScratchDirectory(for: "edit", hint: "coffer secret set --update NAME, which needs no file")
    try scratch.write(before)
    ending = try Editor.run(editor, on: scratch.filePath(), signals)
    if ending == nil { after = try scratch.read() }
  }
}
