package import ProgramSecrets
package import VaultCore

/// An item as a file of another program has it.
package struct ForeignItem: Sendable {
  /// A further secret: an item of its own in the vault, `SERVICE#FIELD`.
  package struct Companion: Sendable {
    package let field: String
    package let secret: HeldSecret

    package init(field: String, secret: HeldSecret) { (self.field, self.secret) = (field, secret) }
  }

  /// Class, names and attributes.
  package var item: Item
  package let secret: HeldSecret
  package private(set) var companions: [Companion] = []
  private var fields = DistinctNames()
  /// Secrets before this one, the oldest first.
  package internal(set) var former: [HeldSecret] = []
  /// The folder in which it lies there, with a / between folders. nil: none.
  package var folder: String?
  /// The line on which it begins, from 1.
  package let line: Int
  /// The place of the secret in the file, with what encodes it, in bytes.
  package let value: Range<Int>

  init(_ item: Item, _ secret: HeldSecret, line: Int, value: Range<Int>) {
    (self.item, self.secret, self.line, self.value) = (item, secret, line, value)
  }

  /// Adds a companion. If the item has one of this name, the name gets a number: an entry may have two files of one name, or a file and a
  /// field.
  package mutating func add(_ companion: Companion) {
    companions.append(Companion(field: fields.next(companion.field), secret: companion.secret))
  }

  package mutating func set(_ name: String, to text: String) { item[Item.userPrefix + name] = text }

  /// The attribute with the kind of program that an item is for.
  package static let kind = Item.userPrefix + "kind"
}

/// A part of the file that becomes no item.
package struct LostPart: Sendable, Equatable {
  package enum Reason: String, CaseIterable, Sendable {
    /// A setting of the program, not a credential.
    case setting
    /// The file names a variable or another program that has the secret.
    case elsewhere
    /// A user, a host or a server without a secret.
    case noSecret = "no-secret"
    /// An entry for no host in particular.
    case anyHost = "any-host"
    /// Commands of the program.
    case macro
    /// More than an item can hold.
    case tooLarge = "too-large"
    /// A file that is attached, beside others that have together more than an import takes.
    case filesTooLarge = "files-too-large"
    /// An entry that stands twice: the program takes the other one.
    case otherKind = "other-kind"
    /// A setting whose value goes on on the next line.
    case continued
    /// A file that is none of the format.
    case otherFile = "other-file"
    /// Bytes that are no text: all of them are the secret of the item, and nothing else of it was found.
    case notText = "not-text"
    /// A file that the archive or the database names and does not have.
    case fileMissing = "file-missing"
    /// An entry that has been removed, and lies in a bin.
    case removed
    /// A name that looks like a secret would be listed.
    case secretName = "secret-name"
    /// A name that the vault cannot hold.
    case nameNotAllowed = "name-not-allowed"
  }

  /// From 1.
  package let line: Int
  /// A name in the file; never a part of a value.
  package let what: String
  package let reason: Reason

  package init(line: Int, what: String, _ reason: Reason) {
    (self.line, self.what, self.reason) = (line, what, reason)
  }
}

/// The content of a file.
package struct ForeignItems: Sendable {
  package var items: [ForeignItem] = []
  package var lost: [LostPart] = []

  package init(_ items: [ForeignItem] = [], lost: [LostPart] = []) { (self.items, self.lost) = (items, lost) }

  /// Leaves the items out that match, for a reason.
  package mutating func leave(
    _ reason: LostPart.Reason, named name: (ForeignItem) -> String = { _ in "credential" }, where matches: (ForeignItem) -> Bool
  ) {
    lost += items.filter(matches).map { LostPart(line: $0.line, what: name($0), reason) }
    items.removeAll(where: matches)
  }
}

extension ForeignItem {
  /// A generic password.
  package init(service: String, account: String, _ secret: HeldSecret, line: Int, value: Range<Int>) {
    self.init(Item(service: service, account: account), secret, line: line, value: value)
  }
}
