import CofferFiles
import CofferStorage
import ProgramSecrets
import SecretMemory
import VaultCore

/// A note outside of the vault that a sweep of this user has changed a file here. Only such a file is put back: an import, or a program that
/// may write to the vault, can make an item that looks like the record of a sweep.
///
/// It holds the permissions of the file, and digests of it, of the settings that an undo takes back, and of the secrets that were moved, under
/// a key that is in the record. So the note alone does not tell whether a guess at the content is right, and a record whose settings were
/// changed is not carried out: they name programs that git and cargo start. The key names the note, too: two vaults may each have a record of
/// the same file, and a vault may have another path by now.
struct SweepNote {
  /// The attribute of the record with the key, in hexadecimal digits.
  static let key = Item.userPrefix + "swept-key"
  private static let form = "coffer-swept-3"

  /// One fits the record, and another one the record as it is going to be.
  private let digests: Set<String>
  let mode: UInt32?
  private let values: Set<String>

  static func newKey() -> String { (0..<4).map { _ in TemporaryName.hexadecimal(.random(in: 0 ... .max)) }.joined() }

  private init(digests: Set<String>, mode: UInt32?, values: Set<String>) {
    (self.digests, self.mode, self.values) = (digests, mode, values)
  }

  /// - Parameters:
  ///   - original: The file as it was.
  ///   - values: The secrets that are moved now. Those of the same sweep before stay.
  init(of original: borrowing Secret, _ record: Item, mode: UInt32?, values: [HeldSecret]) throws {
    let earlier = try? SweepNote(ofFileAt: record[SweepRecord.sweptFrom] ?? "", record)?.values
    self.init(
      digests: [try Self.digest(of: original, record)], mode: mode,
      values: try (earlier ?? []).union(values.map { try Self.digest(of: $0.secret, record) }))
  }

  /// The same note, which fits another original or other settings, too.
  func fitting(also original: borrowing Secret, _ record: Item) throws -> SweepNote {
    SweepNote(digests: digests.union([try Self.digest(of: original, record)]), mode: mode, values: values)
  }

  /// Whether the sweep has moved a secret of this value.
  func hasMoved(_ value: borrowing Secret, _ record: Item) throws -> Bool {
    values.contains(try Self.digest(of: value, record))
  }

  /// Whether the record holds the file that the sweep has kept.
  func fits(_ original: borrowing Secret, _ record: Item) throws -> Bool {
    digests.contains(try Self.digest(of: original, record))
  }

  /// The digest of a text alone, without the settings.
  static func textDigest(of text: borrowing Secret, _ record: Item) throws -> String {
    digits(try hash(of: text, record).secret.copyIntoUnprotectedBytes())
  }

  private static func hash(of text: borrowing Secret, _ record: Item) throws -> Key {
    let key = try Secret(copying: Array((record[key] ?? "").utf8.prefix(64)))
    return try text.withBytes { bytes in try key.withBytes { try Key.hash(bytes, key: $0) } }
  }

  private static func digest(of original: borrowing Secret, _ record: Item) throws -> String {
    let content = try hash(of: original, record)
    let all = try Secret(copying: content.secret.copyIntoUnprotectedBytes() + Array(ProgramSettings.text(in: record).utf8))
    return try textDigest(of: all, record)
  }

  private static func digits(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  // MARK: The file

  private static func directory() throws -> String { Path.join(try Places { Environment[$0] }.state, "swept") }

  /// One sweep, or undo, of this user at a time: each writes down what the file is before it changes it.
  static func turn() throws -> DirectoryLock {
    let directory = Path.parent(of: try directory())
    try Files<FileError>.makeDirectory(directory)
    return try DirectoryLock(on: .foreign(directory))
  }

  /// The digest makes a name of a path of any length.
  private static func file(for path: String, _ record: Item) throws -> String {
    var digest = try ContentDigest()
    digest.update(Array("\(record[key] ?? "")\0\(path)".utf8))
    return Path.join(try directory(), digits(digest.finish()))
  }

  /// Returns nil if there is none.
  init?(ofFileAt path: String, _ record: Item) throws {
    guard let file = try OpenFile.open(Self.file(for: path, record), FileAttributes.readOnly) else { return nil }
    var bytes: [UInt8] = []
    while case let part = try file.read(), !part.isEmpty { bytes += part }
    let parts = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0] == Self.form, parts[4] == path else { return nil }
    self.init(
      digests: Set(parts[1].split(separator: " ").map(String.init)), mode: UInt32(parts[2], radix: 8),
      values: Set(parts[3].split(separator: " ").map(String.init)))
  }

  /// On the disk when this returns: the file may be changed then.
  func write(forFileAt path: String, _ record: Item) throws {
    let file = try Self.file(for: path, record)
    try Files<FileError>.makeDirectory(Path.parent(of: file))
    try TemporaryName.removeLeftovers(for: file)
    let new = try NewFile<FileError>(at: TemporaryName.next(for: file))
    let lines = [
      Self.form, digests.sorted().joined(separator: " "), mode.map { String($0, radix: 8) } ?? "",
      values.sorted().joined(separator: " "), path,
    ]
    try new.file.write(Array(lines.joined(separator: "\n").utf8))
    try new.file.synchronize()
    _ = try new.replace(file)
    try Files<FileError>.synchronizeDirectory(Path.parent(of: file))
  }

  static func remove(forFileAt path: String, _ record: Item) throws {
    let file = try file(for: path, record)
    try TemporaryName.removeLeftovers(for: file)
    try Files<FileError>.remove(file)
  }
}
