import ArgumentParser
import VaultCore

/// What is written beside the secret of an item.
struct AttributeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A short text for people.", valueName: "text"))
  var label: String?

  @Option(help: ArgumentHelp("A longer text for people.", valueName: "text"))
  var comment: String?

  @Option(
    name: .customLong("attr"), parsing: .singleValue,
    help: ArgumentHelp("An attribute: one of the item's class, or any other name. May be repeated.", valueName: "name=value"))
  var attributes: [String] = []

  var isEmpty: Bool { label == nil && comment == nil && attributes.isEmpty }

  /// - Throws: usage.
  func changes(for itemClass: ItemClass) throws(Failure) -> [AttributeChange] {
    var changes: [AttributeChange] = []
    if let label { changes.append(AttributeChange(name: "label", value: .text(label))) }
    if let comment { changes.append(AttributeChange(name: "comment", value: .text(comment))) }
    for text in attributes { changes.append(try AttributeChange(parsing: text, for: itemClass)) }
    return changes
  }
}

/// One attribute that gets a value.
struct AttributeChange {
  let name: String
  let value: AttributeValue

  init(name: String, value: AttributeValue) {
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
    self.value = try AttributeName.kind(of: name, in: itemClass).parse(value, given)
  }
}
