import Coffer
import CofferConsole
import CofferFiles
import ForeignFormats
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
  }

  func run(_ access: AccessOptions, _ vault: VaultOptions, asJSON isJSON: Bool) throws {
    let items = try access.open(vault)
    guard try !items.keychain.isLocked else { throw Failure(VaultError(.locked), about: "the vault") }
    var done: [String] = []
    var failures: [Failure] = []
    var removal = ItemRemoval(vault, isForced: isForced)
    for record in try records(items) {
      do {
        try about(record.path) { try putBack(record, items, &removal) }
        done.append(record.path)
      } catch {
        failures.append(Failure(error))
      }
    }
    items.finish()
    try write(done, hasFailed: !failures.isEmpty, asJSON: isJSON)
    for failure in failures.dropFirst() { Descriptor.error.note(failure.text) }
    if let failure = failures.first { throw failure }
  }

  /// - Throws: not found, for a path that no sweep has changed.
  private func records(_ items: OpenItems) throws -> [Record] {
    let entries = try items.keychain.items(KeychainQuery(service: SweepRecord.service, group: .standard))
    let all = entries.compactMap { entry in entry.item[SweepRecord.sweptFrom].map { Record(entry: entry, path: $0) } }
    guard !paths.isEmpty else { return all.sorted { $0.path < $1.path } }
    return try paths.flatMap { path in
      let resolved = Path.resolved(path) ?? path
      let found = all.filter { $0.path == resolved || $0.path.hasPrefix(resolved + "/") }
      guard !found.isEmpty else { throw Failure(.notFound, "\(path): no sweep has changed it") }
      return found.sorted { $0.path < $1.path }
    }
  }

  private func putBack(_ record: Record, _ items: OpenItems, _ removal: inout ItemRemoval) throws {
    let original = try items.keychain.secret(of: record.entry.reference, purpose: SweepRecord.purpose)
    let companion = try items.item(record.entry.item.bareCompanion(SweepRecord.left), in: .standard)
    try restore(original, record.path, left: companion, items)
    let changes = record.entry.item[SweepRecord.git]?.split(separator: "\n").map(String.init) ?? []
    try GitHelper.carryOut(changes, isUndo: true)
    // The file is on the disk. The record goes last, so that an undo that is interrupted can be done again.
    for entry in try items.keychain.items(KeychainQuery(nil, group: .standard))
    where entry.item[SweepRecord.sweptFrom] == record.path && entry.reference != record.entry.reference
      && entry.item[SweepRecord.sweep] == record.entry.item[SweepRecord.sweep]
    {
      // An item may have another value by now than the file.
      for entry in try items.companions(of: entry) + [entry] {
        _ = try removal.remove(entry.nameWithGroup) { try items.keychain.remove(entry.reference, mustKeep: $0) }
      }
    }
    if let companion { try items.keychain.remove(companion.reference) }
    try items.keychain.remove(record.entry.reference)
  }

  private func restore(_ original: borrowing Secret, _ path: String, left: Entry?, _ items: OpenItems) throws {
    guard try Files<FileError>.status(at: path) != nil else {
      let new = try NewFile<FileError>(at: TemporaryName.next(for: path), named: path)
      try original.withBytes { (bytes) throws(FileError) in try new.file.write(bytes) }
      try new.file.synchronize()
      guard try new.appear(at: path) else { throw Failure(.other, "\(path): was made at this moment") }
      return try Files<FileError>.synchronizeDirectory(Path.parent(of: path))
    }
    let content = try ReadFile(at: path)
    // An undo, or a sweep, that was interrupted.
    if content.text.isEqual(to: original) { return }
    guard let left, try content.text.isEqual(to: items.keychain.secret(of: left.reference, purpose: SweepRecord.purpose)) else {
      throw Failure(
        .duplicate, "\(path): has been changed since the sweep, and stays as it is",
        hint: "coffer secret get --service \(SweepRecord.service) --account \(ShellWord.quoted(path)) prints it as it was")
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
