import CofferFiles
import CofferStorage
import SecretMemory
import VaultCore

/// A note outside of the vault that a sweep of this user has changed a file here. Only such a file is put back: an import, or a program that
/// may write to the vault, can make an item that looks like the record of a sweep.
///
/// It holds the permissions of the file, and a digest of it and of the settings that an undo takes back, under a key that is in the record. So
/// the note alone does not tell whether a guess at the content is right, and a record whose settings were changed is not carried out: they
/// name programs that git and cargo start.
struct SweepNote {
  /// The attribute of the record with the key, in hexadecimal digits.
  static let key = Item.userPrefix + "swept-key"
  private static let form = "coffer-swept-2"

  private let digest: String
  let mode: UInt32?

  static func newKey() -> String { (0..<4).map { _ in TemporaryName.hexadecimal(.random(in: 0 ... .max)) }.joined() }

  private init(digest: String, mode: UInt32?) { (self.digest, self.mode) = (digest, mode) }

  /// - Parameter original: The file as it was.
  init(of original: borrowing Secret, _ record: Item, mode: UInt32?) throws {
    self.init(digest: try Self.digest(of: original, record), mode: mode)
  }

  /// Whether the record holds the file that the sweep has kept.
  func fits(_ original: borrowing Secret, _ record: Item) throws -> Bool { try Self.digest(of: original, record) == digest }

  private static func digest(of original: borrowing Secret, _ record: Item) throws -> String {
    let key = try Secret(copying: Array((record[key] ?? "").utf8.prefix(64)))
    let content = try original.withBytes { bytes in try key.withBytes { try Key.hash(bytes, key: $0) } }
    let all = content.secret.copyIntoUnprotectedBytes() + Array(ProgramSettings.text(in: record).utf8)
    let digest = try key.withBytes { unsafe try Key.hash(all.span.bytes, key: $0) }
    return Self.digits(digest.secret.copyIntoUnprotectedBytes())
  }

  private static func digits(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  // MARK: The file

  private static func directory() throws -> String { Path.join(try Places { Environment[$0] }.state, "swept") }

  /// The digest makes a name of a path of any length.
  private static func file(for path: String) throws -> String {
    var digest = try ContentDigest()
    digest.update(Array(path.utf8))
    return Path.join(try directory(), digits(digest.finish()))
  }

  /// Returns nil if there is none.
  init?(ofFileAt path: String) throws {
    guard let file = try OpenFile.open(Self.file(for: path), FileAttributes.readOnly) else { return nil }
    let parts = String(decoding: try file.read(), as: UTF8.self).split(
      separator: "\n", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == Self.form, parts[3] == path else { return nil }
    self.init(digest: String(parts[1]), mode: UInt32(parts[2], radix: 8))
  }

  /// On the disk when this returns: the file may be changed then.
  func write(forFileAt path: String) throws {
    let file = try Self.file(for: path)
    try Files<FileError>.makeDirectory(Path.parent(of: file))
    try TemporaryName.removeLeftovers(for: file)
    let new = try NewFile<FileError>(at: TemporaryName.next(for: file))
    try new.file.write(Array("\(Self.form)\n\(digest)\n\(mode.map { String($0, radix: 8) } ?? "")\n\(path)".utf8))
    try new.file.synchronize()
    _ = try new.replace(file)
    try Files<FileError>.synchronizeDirectory(Path.parent(of: file))
  }

  static func remove(forFileAt path: String) throws { try Files<FileError>.remove(file(for: path)) }
}
