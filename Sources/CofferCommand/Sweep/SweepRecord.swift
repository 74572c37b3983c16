import Coffer
import CofferConsole
import CofferFiles
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// The item with which `coffer sweep --undo` puts a file back: its secret is the file as it was, its companion `left` the file as the sweep
/// has left it.
struct SweepRecord {
  static let service = "coffer-sweep"
  static let left = "left"
  /// On the record and on each item that the sweep made: the path of the file.
  static let sweptFrom = Item.userPrefix + "swept-from"
  /// On both: the identifier of the sweep. An undo removes the items of its own sweep alone, because the file may need those of an earlier one.
  static let sweep = Item.userPrefix + "sweep"
  static let purpose = "to sweep files"

  private let content: ReadFile
  private let items: OpenItems
  private let record: Entry?
  private let companion: Entry?
  /// Whether the record holds another file than the present one.
  private let isOutdated: Bool
  let identifier: String

  /// Changes nothing yet. A sweep of a file that is as the last sweep left it, or as a sweep that was interrupted has found it, goes on with
  /// that one.
  init(of content: ReadFile, in items: OpenItems) throws {
    (self.content, self.items) = (content, items)
    let item = Self.item(for: content.path)
    record = try items.item(item, in: .standard)
    companion = try items.item(item.bareCompanion(Self.left), in: .standard)
    guard let record, let identifier = record.item[Self.sweep] else {
      isOutdated = true
      self.identifier = TemporaryName.hexadecimal(.random(in: 0 ... .max))
      return
    }
    let original = try items.keychain.secret(of: record.reference, purpose: Self.purpose)
    // A record beside the file as a sweep has left it is one of a sweep here, or else another program's, and is not signed.
    let isKnown =
      try content.text.isEqual(to: original)
      || (companion.map { try content.text.isEqual(to: items.keychain.secret(of: $0.reference, purpose: Self.purpose)) } ?? false)
        && SweepNote(ofFileAt: content.path, record.item)?.fits(original, record.item) == true
    isOutdated = !isKnown
    self.identifier = isKnown ? identifier : TemporaryName.hexadecimal(.random(in: 0 ... .max))
  }

  static func item(for path: String) -> Item {
    var item = Item(service: service, account: path)
    item[sweptFrom] = path
    return item
  }

  /// The attributes of an item that the sweep makes.
  func mark(_ item: inout Item) {
    item[Self.sweptFrom] = content.path
    item[Self.sweep] = identifier
  }

  /// Keeps the file as it is, and then as it is going to be. Between the two, an undo finds a file that is still as it was.
  /// - Parameters:
  ///   - values: The secrets that are going to be moved.
  ///   - mode: The permissions of a file that is going to be removed.
  func keep(left: borrowing Secret, values: [HeldSecret], settings: ProgramSettings? = nil, mode: UInt32? = nil) throws {
    func change(_ item: inout Item) {
      mark(&item)
      settings?.record(in: &item, isAlone: isOutdated)
      if isOutdated || item[SweepNote.key] == nil { item[SweepNote.key] = SweepNote.newKey() }
    }
    var item = Self.item(for: content.path)
    mark(&item)
    if let record, isOutdated {
      try items.keychain.update(record.reference, secret: content.text.whole(), change)
      try SweepNote.remove(forFileAt: content.path, record.item)
    } else if let record {
      if settings?.isEmpty == false || record.item[SweepNote.key] == nil { try items.keychain.update(record.reference, change) }
    } else {
      var record = item
      change(&record)
      try items.keychain.add(record, secret: content.text.whole(), group: .standard)
    }
    if let companion {
      try items.keychain.update(companion.reference, secret: left)
    } else {
      try items.keychain.add(item.bareCompanion(Self.left), secret: left, group: .standard)
    }
    try note(values, mode: mode)
  }

  private func note(_ values: [HeldSecret], mode: UInt32?) throws {
    guard let record = try items.item(Self.item(for: content.path), in: .standard) else { throw KeychainError(.notFound) }
    let original = try items.keychain.secret(of: record.reference, purpose: Self.purpose)
    try SweepNote(of: original, record.item, mode: mode, values: values).write(forFileAt: content.path, record.item)
  }
}

extension SourceText {
  /// - Throws: as `Secret(count:)`.
  func whole() throws -> Secret { try secret(0..<count).secret.duplicate() }

  func isEqual(to secret: borrowing Secret) -> Bool {
    guard count == secret.count else { return false }
    return secret.withBytes { bytes in (0..<bytes.byteCount).allSatisfy { self[$0] == bytes.byte(at: $0) } }
  }

  func isEqual(to other: SourceText) -> Bool { count == other.count && (0..<count).allSatisfy { self[$0] == other[$0] } }
}
