internal import CofferPropertyLists

/// A domain as the verbs see it, in whatever files it lies.
///
/// What throws has changed nothing.
protocol EditableDomain {
  /// As the caller named it; for messages.
  var name: String { get }

  /// Whether there are files, even of no values.
  func isThere() throws -> Bool

  /// - Throws: `DefaultsFailure`, where the domain cannot be read.
  func values() throws -> PropertyListDictionary

  func value(forKey key: String) throws -> PropertyListValue?

  /// All or nothing. Nil removes a key.
  func apply(_ edits: [(key: String, value: PropertyListValue?)]) throws

  /// Keys that are not in `values` are removed.
  func replaceAll(with values: PropertyListDictionary) throws

  /// No other process changes the value between what `body` gets and what it returns.
  func update(_ key: String, _ body: (PropertyListValue?) throws -> PropertyListValue?) throws

  /// No other process changes the value between the call of `check`, with nil if there is no value, and the change, which it
  /// prevents by throwing. Without a value nothing is changed.
  func rename(_ old: String, to new: String, _ check: (PropertyListValue?) throws -> Void) throws
}

extension EditableDomain {
  /// The name of the global domain in those messages of macOS that do not print its constant.
  var title: String { GlobalName.title(of: name) }
}

/// The global domain has a name in messages, and another one among all domains.
enum GlobalName {
  static let inMessages = "kCFPreferencesAnyApplication"

  static func title(of name: String) -> String { name == inMessages ? "Apple Global Domain" : name }
}
