import ArgumentParser
import Coffer
import CofferConsole
import VaultCore

/// The item whose secret is stored: one that is there, or a new one.
struct StoreOptions: ParsableArguments {
  @OptionGroup var item: ItemOptions

  @Flag(help: "Replace the secret of an item that is there.")
  var update = false

  @Flag(help: "Make the group if it is not there.")
  var createGroup = false

  @Option(help: "When the secret can be read, and whether only on this machine.")
  var accessible: AccessibilityName?

  @Flag(help: "With --as: it goes when the app is removed.")
  var installBound = false

  @OptionGroup var attributes: AttributeOptions
  @OptionGroup var plainText: PlainTextOptions

  /// Checks names and attributes, before anything is opened.
  /// - Throws: usage; cancelled.
  func target(_ access: AccessOptions, _ vault: VaultOptions) throws -> StoreTarget {
    let selection = try Selection(item)
    guard selection.name.field == nil else {
      throw Failure.usage("name: a field cannot be set", hint: "coffer secret edit NAME --attr")
    }
    guard !installBound || access.application != nil else {
      throw Failure.usage("--install-bound: only an app has items that go with it", hint: "name it: --as APP")
    }
    let changes = try attributes.changes(for: selection.itemClass)
    try plainText.check(changes)
    try plainText.check(selection.name, typed: item.name, isInputAllowed: !vault.noInput)
    return StoreTarget(options: self, selection: selection, changes: changes)
  }
}
