import Coffer
import CofferConsole
import CofferFiles
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// The item with which `coffer sweep --undo` puts a file back: its secret is the file as it was, its companion `left` the file as the sweep
/// leaves it.
struct SweepRecord {
  static let service = "coffer-sweep"
  static let left = "left"
  /// On the record of a sweep that goes on: a digest of the file as it was between the original and `left`.
  static let former = Item.userPrefix + "swept-former"
  /// On the record and on each item that the sweep made: the path of the file. An item that several files need has a line for each.
  static let sweptFrom = Item.userPrefix + "swept-from"
  /// On both: the identifier of the sweep, or those of several. An undo removes the items of its own sweep alone, because the file may need those of an earlier one.
  static let sweep = Item.userPrefix + "sweep"
  static let purpose = "to sweep files"

  private let content: ReadFile
  private let place: SweepPlace
  private let items: OpenItems
  private let record: Entry?
  private let stage: Stage
  /// The original of the sweep that goes on: the former one with the changes that a person has made since, or the present text.
  private let merged: HeldSecret?
  let identifier: String

  /// The use of an earlier record for this sweep.
  private enum Stage {
    /// None, or one of another file.
    case begins
    /// It is that of a sweep here, and the file was changed since in lines of that sweep. The former original is forgotten; the items
    /// whose values the file has are still those of the sweep.
    case forgets
    case goesOn
  }

  /// Changes nothing yet. A sweep goes on with the record of the one before if the file is as that one has found or left it, or has changes
  /// in other lines.
  /// - Parameter isMerging: Whether a file that was changed may still be the same one.
  init(of content: ReadFile, at place: SweepPlace, in items: OpenItems, isMerging: Bool = true) throws {
    (self.content, self.place, self.items) = (content, place, items)
    record = try items.item(Self.item(for: content.path), in: .standard)
    (stage, merged) = try record.map { try Self.stage(of: $0, content, items, isMerging) } ?? (.begins, nil)
    identifier = stage == .begins ? TemporaryName.hexadecimal(.random(in: 0 ... .max)) : record?.item[Self.sweep] ?? ""
  }

  private static func stage(of record: Entry, _ content: ReadFile, _ items: OpenItems, _ isMerging: Bool) throws -> (
    Stage, HeldSecret?
  ) {
    guard record.item[sweep] != nil else { return (.begins, nil) }
    let original = try items.keychain.secret(of: record.reference, purpose: purpose)
    if content.text.isEqual(to: original) { return (.goesOn, nil) }
    // A record beside the file as a sweep has left it is one of a sweep here, or else another program's, and is not signed.
    guard try SweepNote(ofFileAt: content.path, record.item)?.fits(original, record.item) == true else { return (.begins, nil) }
    if try hasLeft(content, record, items) { return (.goesOn, nil) }
    guard isMerging, let left = try leftText(of: record, items),
      let merged = try SweepMerge(SourceText(original), left: left, present: content.text)?.merged()
    else {
      return (.forgets, HeldSecret(try content.text.whole()))
    }
    return (.goesOn, HeldSecret(merged))
  }

  /// Whether the file is as a sweep has found or left it.
  static func hasLeft(_ content: ReadFile, _ record: Entry, _ items: OpenItems) throws -> Bool {
    if let left = try leftText(of: record, items), content.text.isEqual(to: left) { return true }
    guard let former = record.item[former] else { return false }
    return try former == SweepNote.textDigest(of: content.text.whole(), record.item)
  }

  /// Whether the file is as a sweep has found it but for changes of a person, because that sweep did not come to its end.
  /// - Parameter remains: The items of the sweep.
  static func isUnswept(
    _ content: ReadFile, _ original: borrowing Secret, _ record: Entry, _ remains: SweepRemains, _ items: OpenItems
  ) throws -> Bool {
    // Nothing changes a file without this text in the record, and an undo removes it behind the items.
    guard let left = try leftText(of: record, items) else { return remains.staying.isEmpty }
    return try SweepMerge(SourceText(original), left: left, present: content.text)?.isUnswept ?? false
  }

  private static func leftText(of record: Entry, _ items: OpenItems) throws -> SourceText? {
    guard let companion = try items.item(record.item.bareCompanion(left), in: .standard) else { return nil }
    let text = try items.keychain.secret(of: companion.reference, purpose: purpose)
    return try? SourceText(text)
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

  /// An item of another sweep that this one needs as well goes with the last of the two. Without marks it stays for ever, as does one that was
  /// there before.
  func share(_ entry: Entry) throws {
    guard let marks = entry.item[Self.sweep], !entry.item.isOf(identifier) else { return }
    let paths = "\(entry.item[Self.sweptFrom] ?? "")\n\(content.path)"
    let fits = paths.utf8.count <= Attributes.maximumValueByteCount
    try items.keychain.update(entry.reference) { item in
      item[Self.sweptFrom] = fits ? paths : nil
      item[Self.sweep] = fits ? "\(marks) \(identifier)" : nil
    }
  }

  /// Keeps the file as it is, and then as it is going to be. At each moment an undo finds the file as it was, or as one of the texts that are
  /// kept: the present one is among them before the next one is.
  /// - Parameters:
  ///   - values: The secrets that are going to be moved.
  ///   - mode: The permissions of a file that is going to be removed.
  func keep(left: borrowing Secret, values: [HeldSecret], settings: ProgramSettings? = nil, mode: UInt32? = nil) throws {
    try keepOriginal(settings, values)
    try keep(left)
    try note(values, mode: mode)
  }

  private func keepOriginal(_ settings: ProgramSettings?, _ values: [HeldSecret]) throws {
    let isAlone = stage == .begins
    // Before the record is changed: the same sweep, after a kill, says it again.
    let isForgetting = stage == .forgets
    let isNeeded = try isForgetting && record.map { try forget($0, values) } ?? false
    func change(_ item: inout Item) throws {
      mark(&item)
      settings?.record(in: &item, isAlone: isAlone || isNeeded)
      if isAlone || item[SweepNote.key] == nil { item[SweepNote.key] = SweepNote.newKey() }
      item[Self.former] = isAlone ? nil : try SweepNote.textDigest(of: content.text.whole(), item)
    }
    guard let record else {
      var item = Self.item(for: content.path)
      try change(&item)
      try items.keychain.add(item, secret: content.text.whole(), group: .standard)
      return
    }
    if isAlone {
      try items.keychain.update(record.reference, secret: content.text.whole(), change)
      try SweepNote.remove(forFileAt: content.path, record.item)
      return
    }
    var item = record.item
    try change(&item)
    // With the text that the file has now, in one step: a new original is that of this text alone.
    if let merged {
      try noteBoth(merged.secret, item, record)
      try items.keychain.update(record.reference, secret: merged.secret, change)
    } else if item != record.item {
      try noteBoth(items.keychain.secret(of: record.reference, purpose: Self.purpose), item, record)
      try items.keychain.update(record.reference, change)
    }
  }

  /// Whether an interruption leaves the record as it is or as it is going to be, its note is of it.
  private func noteBoth(_ original: borrowing Secret, _ item: Item, _ record: Entry) throws {
    guard let earlier = try SweepNote(ofFileAt: content.path, record.item) else { return }
    try earlier.fitting(also: original, item).write(forFileAt: content.path, item)
  }

  /// - Returns: Whether programs may need the settings of the earlier sweep, because items of it stay.
  private func forget(_ record: Entry, _ values: [HeldSecret]) throws -> Bool {
    let path = content.path.escapingControls()
    Descriptor.error.note(
      "note: \(path): has been changed in lines of an earlier sweep, so --undo goes back to the file as it is now; "
        + "\(Self.history(of: content.path)) may have the former one\n")
    let key = place.kind == .privateKey ? values.first : nil
    let remains = try SweepRemains(of: record, content.text, at: place, key: key, in: items)
    let original = try items.keychain.secret(of: record.reference, purpose: Self.purpose)
    let isNeeded = try !remains.staying.isEmpty && !Self.isUnswept(content, original, record, remains, items)
    try remains.release()
    if isNeeded, !ProgramSettings(recordedIn: record.item).isEmpty {
      Descriptor.error.note("note: \(path): its program goes on to ask coffer for them, also after --undo\n")
    }
    return isNeeded
  }

  static func history(of path: String) -> String {
    "coffer secret history --service \(service) --account \(ShellWord.quoted(path))".escapingControls()
  }

  private func keep(_ left: borrowing Secret) throws {
    let item = try Self.item(for: content.path).bareCompanion(Self.left)
    guard let companion = try items.item(item, in: .standard) else {
      try items.keychain.add(item, secret: left, group: .standard)
      return
    }
    guard try !items.keychain.secret(of: companion.reference, purpose: Self.purpose).isEqual(to: left) else { return }
    try items.keychain.update(companion.reference, secret: left)
  }

  private func note(_ values: [HeldSecret], mode: UInt32?) throws {
    guard let record = try items.item(Self.item(for: content.path), in: .standard) else { throw KeychainError(.notFound) }
    let original = try items.keychain.secret(of: record.reference, purpose: Self.purpose)
    try SweepNote(of: original, record.item, mode: mode, values: values).write(forFileAt: content.path, record.item)
  }
}

extension Item {
  /// Whether a sweep has made it, alone or with others.
  func isOf(_ sweep: String) -> Bool { (self[SweepRecord.sweep] ?? "").split(separator: " ").contains { $0 == sweep } }

  /// The same item, without the marks of one sweep.
  mutating func unmark(_ sweep: String, path: String) {
    let sweeps = (self[SweepRecord.sweep] ?? "").split(separator: " ").filter { $0 != sweep }
    let paths = (self[SweepRecord.sweptFrom] ?? "").split(separator: "\n").filter { $0 != path }
    self[SweepRecord.sweep] = sweeps.isEmpty ? nil : sweeps.joined(separator: " ")
    self[SweepRecord.sweptFrom] = paths.isEmpty ? nil : paths.joined(separator: "\n")
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
