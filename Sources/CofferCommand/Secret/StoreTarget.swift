import Coffer
import CofferConsole
import CofferFiles
import CofferRequests
import SecretMemory
import VaultCore

/// A place for a secret, whose name and attributes are checked.
struct StoreTarget {
  fileprivate let options: StoreOptions
  let selection: Selection
  fileprivate let changes: [AttributeChange]

  init(options: StoreOptions, selection: Selection, changes: [AttributeChange]) {
    (self.options, self.selection, self.changes) = (options, selection, changes)
  }

  /// - Parameter isReady: Called when all files of the caller are open, and before a person is asked for a passphrase.
  /// - Throws: duplicate; not found; usage.
  func open(_ access: AccessOptions, _ vault: VaultOptions, _ isReady: () throws -> Void = {}) throws -> OpenStoreTarget {
    let agent = try vault.ownedVault().agentItems(access)
    let place = try agent == nil ? vault.openPlace(forItem: options.accessible) : nil
    try isReady()
    let items = try agent ?? access.open(vault, place ?? vault.openPlace())
    return OpenStoreTarget(target: self, place: place, items: items, existing: try checkedExisting(in: items))
  }

  /// - Returns: The item whose secret is replaced, or nil for a new one, whose group exists then or may be made.
  private func checkedExisting(in items: OpenItems) throws -> Entry? {
    guard let existing = try replaced(in: items) else {
      if let group = try selection.group(items) {
        try items.checkCanAdd(to: group, isCreated: options.createGroup || items.application != nil)
      }
      return nil
    }
    guard options.update else {
      throw Failure(
        .duplicate, "\(selection.name): there is such an item already", hint: "--update replaces its secret")
    }
    guard options.accessible == nil || options.accessible == AccessibilityName(existing.accessibility) else {
      throw Failure.usage(
        "--accessible: is for a new item; this one is \(AccessibilityName(existing.accessibility).rawValue)",
        hint: "to change it: coffer secret edit NAME --accessible CLASS")
    }
    return existing
  }

  /// The item of this name. Of an app's groups only the one that a new item would go to, unless an item is to be replaced: that may lie in
  /// any of them.
  private func replaced(in items: OpenItems) throws -> Entry? {
    guard options.update || items.application == nil || selection.name.group != nil else { return nil }
    do {
      return try selection.exact(in: items)
    } catch let error as SelectedIsUnreadable {
      throw Failure(error.reason, about: "\(selection.name)")
    }
  }
}

/// The same with the vault open.
struct OpenStoreTarget {
  fileprivate let target: StoreTarget
  fileprivate let place: VaultPlace?
  let items: OpenItems
  fileprivate let existing: Entry?

  func store(_ secret: borrowing Secret) throws {
    let (selection, options) = (target.selection, target.options)
    try about("\(selection.name)") {
      if let existing {
        _ = try items.keychain.update(existing.reference, secret: secret) { $0.apply(target.changes) }
      } else {
        var new = try selection.name.item(selection.itemClass)
        new.apply(target.changes)
        try place?.keepNewDeviceKey()
        try items.keychain.add(
          new, secret: secret, group: try selection.group(items), accessible: options.accessible?.accessibility ?? .whenUnlocked,
          installBound: options.installBound)
      }
    }
  }

  func finish() {
    existing?.hintAtRestoring(in: items.keychain)
    items.finish()
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
