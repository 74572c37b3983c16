package import SecretMemory
package import VaultCore

/// A request of `coffer` to `coffer-secrets`, which is a client of another program that serves the Secret Service: one frame each way, whose
/// parts are texts.
package enum ProviderRequest: String, CaseIterable, Sendable {
  /// Finds the program. Answer: its process, its path, and `own` if it serves the vault of this user's agent.
  case provider
  /// The paths of the collections, from a position on, and at most `mostPaths` of them.
  case collections
  /// The label of a collection, and whether it is locked: `locked` or empty.
  case collection
  /// The path of the collection to which an alias leads; empty if there is none.
  case alias
  /// The paths of a collection's items, likewise.
  case items
  /// The attributes of an item, as a vault has them, and when it was changed, in seconds.
  case item
  /// The type of an item's content, and its secret.
  case secret
  /// Unlocks collections or items, and waits for what the program asks a person.
  case unlock
  /// Makes a collection of a label. The second text is `prompt` if the program may ask a person. Answer: its path.
  case make
  /// Adds an item to a collection: path, type of the content, `prompt` if the program may ask a person, attributes, secret. Answer: its
  /// path.
  case add
  /// Replaces the secret of an item: path, type of the content, secret.
  case replace

  package static let mostPaths = 200
  package static let request = FrameKind.question
  package static let answer = FrameKind.done

  /// Errors of `coffer-secrets` itself, beside those that the program has sent.
  package enum Problem: String, Sendable {
    case noProvider = "coffer.NoProvider"
    case noBus = "coffer.NoBus"
    case malformed = "coffer.Malformed"
    /// More than an item of the vault can have.
    case tooLarge = "coffer.TooLarge"
    /// A name of an attribute that the vault does not take.
    case name = "coffer.Name"
    /// The program would ask a person.
    case needsPerson = "coffer.NeedsPerson"
    /// The person has refused.
    case dismissed = "coffer.Dismissed"
  }
}

extension Message {
  package init(texts: [String], fields: Attributes = Attributes(), secret: consuming Secret? = nil) {
    self.init(fields: fields, parts: texts.map { Array($0.utf8) }, secret: secret)
  }

  package var texts: [String] { parts.map { String(decoding: $0, as: UTF8.self) } }
}
