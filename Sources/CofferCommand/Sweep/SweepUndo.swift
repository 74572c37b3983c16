import Coffer
import CofferConsole
import CofferFiles
import ForeignFormats
import OpenSSHAgent
import SecretMemory
import VaultCore

/// `coffer sweep --undo`: files become what they were, byte for byte, and then the items go that the sweep made. `coffer secret restore` has
/// them for a while.
struct SweepUndo {
  private let paths: [String]
  private let isForced: Bool

  init(paths: [String], isForced: Bool) { (self.paths, self.isForced) = (paths, isForced) }

  private struct Record {
    let entry: Entry
    let path: String
    let note: SweepNote
  }

  func run(_ access: AccessOptions, _ vault: VaultOptions, asJSON isJSON: Bool) throws {
    let items = try access.open(vault)
    guard try !items.keychain.isLocked else { throw Failure(VaultError(.locked), about: "the vault") }
    let turn = try SweepNote.turn()
    defer { withExtendedLifetime(turn) {} }
    var done: [String] = []
    var failures: [Failure] = []
    var isAnyUnswept = false
    var removal = ItemRemoval(vault, isForced: isForced)
    for record in try records(items, &failures) {
      do {
        if try about(record.path, { try putBack(record, items, &removal) }) {
          done.append(record.path)
        } else {
          isAnyUnswept = true
        }
      } catch {
        failures.append(Failure(error))
      }
    }
    items.finish()
    try write(done, hasFailed: !failures.isEmpty || isAnyUnswept, asJSON: isJSON)
    for failure in failures.dropFirst() { Descriptor.error.note(failure.text) }
    if let failure = failures.first { throw failure }
  }

  /// - Throws: not found, for a path that no sweep of this user has changed here.
  /// - Parameter failures: gets those of notes that cannot be read, whose files stay.
  private func records(_ items: OpenItems, _ failures: inout [Failure]) throws -> [Record] {
    let entries = try items.keychain.items(KeychainQuery(service: SweepRecord.service, group: .standard))
    var all: [Record] = []
    var others: [String] = []
    var unread: [(path: String, failure: Failure)] = []
    for entry in entries.sorted(by: { $0.item["account"] ?? "" < $1.item["account"] ?? "" }) {
      guard let path = entry.item[SweepRecord.sweptFrom] else { continue }
      do {
        if let note = try SweepNote(ofFileAt: path, entry.item) {
          all.append(Record(entry: entry, path: path, note: note))
        } else {
          others.append(path)
        }
      } catch {
        unread.append((path, Failure(error, about: "\(path): the note of its sweep")))
      }
    }
    guard !paths.isEmpty else {
      failures += unread.map(\.failure)
      Self.note(others)
      return all
    }
    var named: Set<String> = []
    return try paths.flatMap { path in
      let target = Path.target(of: path) ?? path
      let linked = Set(SweepPlaces.candidates(below: path).compactMap { Path.target(of: $0.path) })
      func isNamed(_ path: String) -> Bool {
        path == target || path.hasPrefix(target == "/" ? target : target + "/") || linked.contains(path)
      }
      let found = all.filter { isNamed($0.path) }
      let unread = unread.filter { isNamed($0.path) }
      let others = others.filter(isNamed)
      failures += unread.filter { !named.contains($0.path) }.map(\.failure)
      guard !found.isEmpty || !unread.isEmpty else {
        Self.note(others.dropFirst())
        throw Failure(
          .notFound, "\(path): no sweep has changed it here",
          hint: others.first.map { "the vault has it as it was elsewhere: \(Self.printing($0))" })
      }
      Self.note(others.filter { !named.contains($0) })
      // Paths may be the same, or lie in one another.
      defer { named.formUnion(found.map(\.path) + unread.map(\.path) + others) }
      return found.filter { !named.contains($0.path) }
    }
  }

  /// Names the records of files that stay.
  private static func note(_ others: some Sequence<String>) {
    for path in others {
      Descriptor.error.note("note: \(path.escapingControls()): no sweep here has changed it, and it stays\n")
    }
  }

  private static func printing(_ path: String) -> String {
    "coffer secret get --service \(SweepRecord.service) --account \(ShellWord.quoted(path))"
  }

  /// - Returns: false if the sweep did not come to its end, and the file stays as a person has changed it.
  private func putBack(_ record: Record, _ items: OpenItems, _ removal: inout ItemRemoval) throws -> Bool {
    let original = try items.keychain.secret(of: record.entry.reference, purpose: SweepRecord.purpose)
    guard try record.note.fits(original, record.entry.item) else {
      throw Failure(
        .integrity,
        "\(record.path): the vault has another text, or other settings, than the sweep has kept; the file stays as it is",
        hint: "coffer secret history may have it; \(Self.printing(record.path)) prints what is there")
    }
    let isUnswept = try isUnswept(original, record, items)
    if !isUnswept { try restore(original, record, items) }
    try ProgramSettings(recordedIn: record.entry.item).takeBack()
    // The file is on the disk. The record goes last, so that an undo that is interrupted can be done again.
    let keys = try SSHKeys(items)
    let sweep = record.entry.item[SweepRecord.sweep] ?? ""
    for entry in try SweepRemains.made(by: record.entry, keys) {
      let parts = try items.companions(of: entry) + [entry]
      if let words = try reasonToStay(entry, parts, record, items) {
        try items.keychain.update(entry.reference) { $0.unmark(sweep, path: record.path) }
        Descriptor.error.note("note: \(entry.nameWithGroup): \(words)".escapingControls() + "\n")
        continue
      }
      // As long as the item is there, an undo that was interrupted finds it again.
      if let name = entry.item.sshKeyName { try keys.files.remove(name) }
      for entry in parts {
        _ = try removal.remove(entry.nameWithGroup) { try items.keychain.remove(entry.reference, mustKeep: $0) }
      }
    }
    if let left = try items.item(record.entry.item.bareCompanion(SweepRecord.left), in: .standard) {
      try items.keychain.remove(left.reference)
    }
    try items.keychain.remove(record.entry.reference)
    try SweepNote.remove(forFileAt: record.path, record.entry.item)
    return !isUnswept
  }

  /// Whether the file has nothing of the sweep, which did not come to its end. Then the items whose values it has go, and the others
  /// are named.
  private func isUnswept(_ original: borrowing Secret, _ record: Record, _ items: OpenItems) throws -> Bool {
    let place = SweepPlaces.place(at: record.path)
    guard try Files<FileError>.status(at: record.path) != nil else { return false }
    try TemporaryName.removeLeftovers(for: record.path)
    let content = try ReadFile(at: record.path)
    guard !content.text.isEqual(to: original), try !SweepRecord.hasLeft(content, record.entry, items) else { return false }
    let remains = try SweepRemains(of: record.entry, content.text, at: place, in: items)
    guard try SweepRecord.isUnswept(content, original, record.entry, remains, items) else { return false }
    Descriptor.error.note(
      "note: \(record.path.escapingControls()): has nothing of the sweep, and stays as it is; "
        + "\(SweepRecord.history(of: record.path)) may have it as it was\n")
    try remains.release()
    return true
  }

  private func isAsMoved(_ entry: Entry, _ record: Record, _ items: OpenItems) throws -> Bool {
    let secret = try items.keychain.secret(of: entry.reference, purpose: SweepRecord.purpose)
    return try record.note.hasMoved(secret, record.entry.item)
  }

  private func reasonToStay(_ entry: Entry, _ parts: [Entry], _ record: Record, _ items: OpenItems) throws -> String? {
    guard try parts.allSatisfy({ try isAsMoved($0, record, items) }) else {
      return "has changed since the sweep, and stays; the file has the former value"
    }
    var others = entry.item
    others.unmark(record.entry.item[SweepRecord.sweep] ?? "", path: record.path)
    return others[SweepRecord.sweep] == nil ? nil : "stays, as \(others[SweepRecord.sweptFrom] ?? "another sweep") needs it, too"
  }

  private func restore(_ original: borrowing Secret, _ record: Record, _ items: OpenItems) throws {
    let path = record.path
    guard try Files<FileError>.status(at: path) != nil else {
      return try NewContent.place(original, at: path, mode: record.note.mode ?? 0o600)
    }
    // An undo that was killed has left the original in one, also if a person has put the file back since.
    try TemporaryName.removeLeftovers(for: path)
    let content = try ReadFile(at: path)
    // An undo, or a sweep, that was interrupted.
    if content.text.isEqual(to: original) { return }
    guard try SweepRecord.hasLeft(content, record.entry, items) else {
      throw Failure(
        .duplicate, "\(path): has been changed since the sweep, and stays as it is",
        hint: "\(Self.printing(path)) prints it as it was")
    }
    let replacement = try FileReplacement(of: content)
    try replacement.place(original)
  }

  private func write(_ done: [String], hasFailed: Bool, asJSON isJSON: Bool) throws {
    guard !isJSON else {
      return try Descriptor.output.write(JSON.object([("restored", .array(done.map { .text($0) }))]).description + "\n")
    }
    for path in done { try Descriptor.output.write("\(path.escapingControls()): as it was before the sweep\n") }
    if done.isEmpty, !hasFailed { Descriptor.error.note("note: no file to put back\n") }
  }
}
