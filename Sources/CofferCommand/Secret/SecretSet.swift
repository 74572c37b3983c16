import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import SecretMemory
import VaultCore

struct SecretSet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Keep a secret.",
    discussion: "The secret is typed at the terminal, read from standard input as it is, or from --file. It is never an argument."
  )

  @OptionGroup var item: ItemOptions

  @Flag(help: "Replace the secret of an item that is there.")
  var update = false

  @Option(help: ArgumentHelp("Read the secret from this file.", valueName: "path"), completion: .file())
  var file: String?

  @Flag(help: "Store an empty secret too.")
  var allowEmpty = false

  @Flag(help: "Make the group if it is not there.")
  var createGroup = false

  @Option(help: "When the secret can be read, and whether only on this machine.")
  var accessible: AccessibilityName?

  @Flag(help: "With --as: it goes when the app is removed.")
  var installBound = false

  @OptionGroup var attributes: AttributeOptions
  @OptionGroup var plainText: PlainTextOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let selection = try Selection(item)
    let changes = try checkedChanges(selection)
    let source = try SecretSource.choose(file: file, vault)
    let agent = try vault.ownedVault().agentItems(access)
    let place = try agent == nil ? vault.openPlace(forItem: accessible) : nil
    // The standard input of a pipeline ends before a person is asked for a passphrase.
    var given: Secret?
    if case .stream(let stream) = source { given = try checked(Secret.reading(stream), from: stream.name) }
    let items = try agent ?? access.open(vault, place ?? vault.openPlace())
    let existing = try checkedExisting(selection, in: items)
    let secret =
      try given.take()
      ?? checked(Person.askTwice("Secret", isAllowed: !vault.noInput, isEmptyAllowed: true), from: "secret")
    try about("\(selection.name)") {
      if let existing {
        try checkAccessibility(of: existing)
        _ = try items.keychain.update(existing.reference, secret: secret) { $0.apply(changes) }
      } else {
        var new = try selection.name.item(selection.itemClass)
        new.apply(changes)
        try place?.keepNewDeviceKey()
        try items.keychain.add(
          new, secret: secret, group: try selection.group(items), accessible: accessible?.accessibility ?? .whenUnlocked,
          installBound: installBound)
      }
    }
    items.finish()
    if let existing { existing.hintAtRestoring() }
    note(secret, from: source)
  }

  // MARK: Check

  /// Before anything is opened.
  /// - Throws: usage.
  private func checkedChanges(_ selection: Selection) throws -> [AttributeChange] {
    guard selection.name.field == nil else {
      throw Failure.usage("name: a field cannot be set", hint: "coffer secret edit NAME --attr")
    }
    guard !installBound || access.application != nil else {
      throw Failure.usage("--install-bound: only an app has items that go with it", hint: "name it: --as APP")
    }
    let changes = try attributes.changes(for: selection.itemClass)
    try plainText.check(changes)
    try plainText.check(selection.name, typed: item.name, isInputAllowed: !vault.noInput)
    return changes
  }

  /// - Returns: The item whose secret is replaced, or nil for a new one, whose group exists then or may be made.
  /// - Throws: duplicate; not found; usage.
  private func checkedExisting(_ selection: Selection, in items: OpenItems) throws -> Entry? {
    guard let existing = try replaced(selection, in: items) else {
      if let group = try selection.group(items) {
        try items.checkCanAdd(to: group, isCreated: createGroup || items.application != nil)
      }
      return nil
    }
    guard update else {
      throw Failure(
        .duplicate, "\(selection.name): there is such an item already", hint: "to replace its secret: coffer secret set --update")
    }
    return existing
  }

  /// - Throws: usage, for an empty one: the program before this one in a pipeline has failed, or a person has typed Return twice.
  private func checked(_ secret: consuming Secret, from name: String) throws -> Secret {
    guard secret.count > 0 || allowEmpty else {
      throw Failure.usage("\(name): empty; nothing has been stored", hint: "--allow-empty stores an empty secret")
    }
    return secret
  }

  /// The item of this name. Of an app's groups only the one that a new item would go to, unless an item is to be replaced: that may lie in
  /// any of them.
  private func replaced(_ selection: Selection, in items: OpenItems) throws -> Entry? {
    guard update || items.application == nil || selection.name.group != nil else { return nil }
    do {
      return try selection.exact(in: items)
    } catch let error as SelectedIsUnreadable {
      throw Failure(error.reason, about: "\(selection.name)")
    }
  }

  /// - Throws: usage.
  private func checkAccessibility(of existing: Entry) throws {
    guard accessible == nil || accessible == AccessibilityName(existing.accessibility) else {
      throw Failure.usage(
        "--accessible: is for a new item; this one is \(AccessibilityName(existing.accessibility).rawValue)",
        hint: "to change it: coffer secret edit NAME --accessible CLASS")
    }
  }

  // MARK: Print

  private func note(_ secret: borrowing Secret, from source: SecretSource) {
    if case .stream(let stream) = source, stream.number == Descriptor.input.number, secret.isLineWithEnd {
      Descriptor.error.note("note: the secret ends with a line end, which belongs to it (printf '%s' writes none)\n")
    }
    if secret.count == 0 { Descriptor.error.note("note: the secret is empty\n") }
  }
}

extension Item {
  mutating func apply(_ changes: [AttributeChange]) {
    for change in changes { attributes[change.name] = change.value }
  }
}

extension VaultOptions {
  /// The vault's file, with a new key of this device if the item needs one and there is none. `keepNewDeviceKey` makes its file.
  func openPlace(forItem accessible: AccessibilityName?) throws -> VaultPlace {
    var place = try openPlace()
    // All that the caller named is open, and nothing of it has been read.
    Hardening.hide()
    if accessible?.accessibility.isThisDeviceOnly == true { try place.prepareDeviceKey() }
    return place
  }
}
