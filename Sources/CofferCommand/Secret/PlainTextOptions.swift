import ArgumentParser
import CofferConsole
internal import CofferPropertyLists
internal import LeakDetection
import VaultCore

/// Names and attributes are listed without a question, and came in as arguments. A secret that ends up there is refused.
struct PlainTextOptions: ParsableArguments {
  @Flag(help: "Keep a name or an attribute that looks like a secret, or a name with a = in it.")
  var notASecret = false

  /// - Parameter typed: The name as the argument gave it; nil if options gave its parts, which may hold any text.
  /// - Throws: usage; cancelled. The message never holds the text that looks like a secret.
  func check(_ name: ItemName, typed: String?, isInputAllowed: Bool) throws {
    guard !notASecret else { return }
    for text in [name.service, name.account ?? "", name.group ?? ""] {
      guard let rule = Self.rule("", .string(text)) else { continue }
      throw Failure.usage(
        "name: looks like a secret (\(rule)); nothing has been stored",
        hint: "\(Self.advice(typed)); --not-a-secret keeps the name")
    }
    guard let typed, !ItemName.isURL(typed), let equals = typed.firstIndex(of: "=") else { return }
    guard isInputAllowed, HiddenTerminal.hide() != nil else {
      throw Failure.usage(
        "name: holds a =; the text after it would be part of the name, not the secret",
        hint: "\(Self.advice(typed)); --not-a-secret keeps the name")
    }
    let before = String(typed[...equals]).escapingControls()
    guard try Question.isYes("Is the text after \(before) part of the name, and no secret? [y/N] ") else {
      throw Failure.cancelled
    }
  }

  /// - Throws: usage.
  func check(_ changes: [AttributeChange]) throws(Failure) {
    guard !notASecret else { return }
    for change in changes {
      let name = change.name.hasPrefix(Item.userPrefix) ? String(change.name.dropFirst(Item.userPrefix.count)) : change.name
      let value: PropertyListValue? =
        switch change.value {
        case .text(let text): .string(text)
        case .data(let bytes): .data(bytes)
        case .integer, .time, nil: nil
        }
      let ruleOfName = Self.rule("", .string(name))
      guard let value, let rule = ruleOfName ?? Self.rule(name, value) else { continue }
      let option = ["label", "comment"].contains(name) ? "--\(name)" : ruleOfName == nil ? "--attr \(name)" : "--attr"
      throw .usage(
        "\(option): looks like a secret (\(rule)); nothing has been stored",
        hint: "a secret is an item of its own, from standard input or the terminal; --not-a-secret keeps the attribute")
    }
  }

  static func looksLikeSecret(_ text: String) -> Bool { rule("", .string(text)) != nil }

  private static func rule(_ key: String, _ value: PropertyListValue) -> String? {
    LeakDetector.findings(key: key, value: value).first?.rule
  }

  /// With the name that was probably meant, unless that is a secret itself.
  private static func advice(_ typed: String?) -> String {
    let name = typed?.split(separator: "=", omittingEmptySubsequences: false).first.map(String.init) ?? ""
    let isPlain = !name.isEmpty && rule("", .string(name)) == nil
    return "coffer secret set \(isPlain ? name : "NAME") takes the secret from standard input or the terminal"
  }
}
