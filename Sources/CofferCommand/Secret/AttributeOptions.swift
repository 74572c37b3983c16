import ArgumentParser
import CofferConsole
import VaultCore

/// The attributes that are written beside the secret of an item.
struct AttributeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A short text for people; an empty one is none.", valueName: "text"))
  var label: String?

  @Option(help: ArgumentHelp("A longer text for people; an empty one is none.", valueName: "text"))
  var comment: String?

  @Option(
    name: .customLong("attr"), parsing: .singleValue,
    help: ArgumentHelp("An attribute: one of the item's class, or any other name. May be repeated.", valueName: "name=value"))
  var attributes: [String] = []

  @Option(
    help: ArgumentHelp(
      "Through the agent, ask the owner before anybody else gets the secret; a yes lasts so many minutes, 0: once.",
      valueName: "minutes"))
  var confirm: UInt64?

  var isEmpty: Bool { label == nil && comment == nil && attributes.isEmpty && confirm == nil }

  /// - Throws: usage.
  func changes(for itemClass: ItemClass) throws(Failure) -> [AttributeChange] {
    var changes: [AttributeChange] = []
    for (name, text) in [("label", label), ("comment", comment)] {
      if let text { changes.append(AttributeChange(name: name, value: text.isEmpty ? nil : .text(text))) }
    }
    if let confirm { changes.append(AttributeChange(name: Item.confirm, value: .integer(confirm))) }
    for text in attributes {
      let change = try AttributeChange(parsing: text, for: itemClass)
      guard !changes.contains(where: { $0.name.utf8.elementsEqual(change.name.utf8) }) else {
        throw .usage("--attr \(text): this attribute is given twice")
      }
      changes.append(change)
    }
    return changes
  }
}

/// One attribute that gets a value, or none.
struct AttributeChange {
  let name: String
  let value: AttributeValue?

  init(name: String, value: AttributeValue?) {
    self.name = name
    self.value = value
  }

  /// - Throws: usage.
  init(parsing text: String, for itemClass: ItemClass) throws(Failure) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw .usage("--attr \(text): needs a name and a value", hint: "--attr NAME=VALUE")
    }
    let given = String(text[..<equals])
    let value = String(text[text.index(after: equals)...])
    try ItemName.check(given, "attribute name")
    name = AttributeName.stored(given, itemClass)
    guard AttributeName.isSettable(name) else {
      throw .usage("--attr \(given): is kept by the vault itself", hint: "choose another name for an attribute of your own")
    }
    self.value = value.isEmpty ? nil : try AttributeName.kind(of: name, in: itemClass).parse(value, given)
  }
}
