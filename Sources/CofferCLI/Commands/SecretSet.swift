import ArgumentParser
import ProcessHardening
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

  @Flag(help: "Make the group if it is not there.")
  var createGroup = false

  @Option(help: "When the secret can be read, and whether only on this machine.")
  var accessible: AccessibilityName?

  @Flag(help: "With --as: it goes when the app is removed.")
  var installBound = false

  @OptionGroup var attributes: AttributeOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let selection = try Selection(item)
    guard selection.name.field == nil else {
      throw Failure.usage("name: a field cannot be set", hint: "coffer secret edit NAME --attr")
    }
    guard !installBound || access.application != nil else {
      throw Failure.usage("--install-bound: only an app has items that go with it", hint: "--as APP says which app")
    }
    let changes = try attributes.changes(for: selection.itemClass)
    let source = try SecretSource.choose(file: file, vault)
    let place = try vault.openPlace()
    // All that the caller named is open, and nothing of it has been read.
    Hardening.hide()
    if accessible?.accessibility.isThisDeviceOnly == true, let path = try place.makeDeviceKey() {
      Descriptor.error.note("note: \(path.escapingControls()): a new key of this device, without which such items are lost\n")
    }
    var given: Secret?
    if case .stream = source { given = try source.read(isInputAllowed: false) }
    var opened = try vault.open(place)
    let access = try access.access(in: opened)
    let (group, existing) = try target(of: selection, in: opened, access)
    let isGroupNew = try opened.lacks(group, isCreated: createGroup)
    if existing != nil, !update { throw duplicate(selection.name) }
    try access.confirm("set \(selection.name) in \(group.name)", group, .write, isInputAllowed: !vault.noInput)
    let secret = try given.take() ?? source.read(isInputAllowed: !vault.noInput)
    try about("\(selection.name)") {
      if let existing {
        guard accessible == nil || accessible == AccessibilityName(existing.accessibility) else {
          throw Failure.usage("--accessible: is settled when an item is made", hint: "remove it and set it again")
        }
        _ = try opened.update(existing.reference, secret: secret, at: .now()) { $0.apply(changes) }
      } else {
        var new = try selection.name.item(selection.itemClass)
        new.apply(changes)
        if installBound { new[Item.installBound] = access.application }
        try opened.transaction { transaction in
          if isGroupNew { try transaction.makeGroup(group) }
          try transaction.add(new, secret: secret, to: group, accessible: accessible?.accessibility ?? .whenUnlocked, at: .now())
        }
      }
    }
    opened.finish()
    if secret.count == 0 { Descriptor.error.note("note: the secret is empty\n") }
  }

  /// The group that is meant, and the item that is there already. What an app replaces may lie in any of its groups.
  private func target(
    of selection: Selection, in vault: borrowing Vault, _ access: ItemAccess
  ) throws -> (AccessGroup, Entry?) {
    let named = try selection.name.group.map { try AccessGroup($0) }
    let item = try selection.name.item(selection.itemClass)
    let first = try access.groupForAdding(named)
    let groups = try update ? access.groups(named: named, .write) : []
    for group in [first] + groups where try vault.contains(group) {
      if let entry = try vault.entry(item, in: group) { return (group, entry) }
    }
    return (first, nil)
  }

  private func duplicate(_ name: ItemName) -> Failure {
    Failure(.duplicate, "\(name): there is such an item already", hint: "to replace its secret: coffer secret set --update")
  }
}

extension Item {
  mutating func apply(_ changes: [AttributeChange]) {
    for change in changes { attributes[change.name] = change.value }
  }
}
