import CofferTesting
import VaultCore

@testable import CofferSync

/// An engine that may lie in each way that a schedule wants, until it is told to be honest.
///
/// It holds several logs, and shows each device one of them. It has no keys.
final class FaultyEngine: Engine {
  struct Crash: Error {}
  struct Outage: Error {}

  var random: SeededGenerator
  private(set) var logs: [[[UInt8]]] = [[]]
  /// The log that a device sees, by its index, and how many of the last entries it does not see.
  private var views: [Int: (log: Int, lag: Int)] = [:]
  private(set) var objects: [ObjectName: [UInt8]] = [:]
  var isHonest = true
  /// The device that calls.
  var caller = 0
  /// Calls until the caller crashes; nil for never.
  var callsUntilCrash: Int?
  private(set) var crashes = 0
  /// The device that made an entry: what the engine cannot know, for the tests.
  private(set) var makers: [[UInt8]: Int] = [:]

  init(_ random: SeededGenerator) { self.random = random }

  private func view() -> (log: Int, lag: Int) { isHonest ? (0, 0) : views[caller] ?? (0, 0) }

  private func step() throws {
    guard let calls = callsUntilCrash else { return }
    callsUntilCrash = calls - 1
    if calls == 0 {
      crashes += 1
      throw Crash()
    }
    if !isHonest, Int.random(in: 0..<40, using: &random) == 0 { throw Outage() }
  }

  private func lies(one chance: Int) -> Bool { !isHonest && Int.random(in: 0..<chance, using: &random) == 0 }

  func append(_ number: UInt64, _ entry: [UInt8]) throws -> Appended {
    try step()
    makers[entry] = makers[entry] ?? caller
    let log = view().log
    if lies(one: 25) { return .made }
    guard logs[log].count >= number, number == 0 || !isDeleted(number - 1, log) else { return .shorter }
    if isDeleted(number, log) {
      logs[log][Int(number)] = entry
      deleted[log]?.remove(number)
      return .made
    }
    guard logs[log].count == number else { return .taken }
    logs[log].append(entry)
    if lies(one: 20) { logs[log].append(entry) }
    // The caller crashes after the entry was made, before it knows.
    try step()
    return lies(one: 25) ? .taken : .made
  }

  func read(from number: UInt64, limit: Int) throws -> [NumberedEntry] {
    try step()
    let view = view()
    let end = max(0, logs[view.log].count - view.lag)
    let entries = (min(Int(number), end)..<end).lazy.filter { !self.isDeleted(UInt64($0), view.log) }
      .map { NumberedEntry(UInt64($0), self.logs[view.log][$0]) }
    return Array((Array(entries) + strays.filter { $0.number >= number }).prefix(limit))
  }

  func put(_ name: ObjectName, _ object: [UInt8]) throws {
    try step()
    objects[name] = object
  }

  func get(_ name: ObjectName) throws -> [UInt8]? {
    try step()
    return objects[name]
  }

  func names(after last: ObjectName?) throws -> [ObjectName] {
    try step()
    return Array(objects.keys.filter { name in last.map { $0 < name } ?? true }.sorted().prefix(100))
  }

  func delete(_ names: [ObjectName]) throws {
    try step()
    for name in names { objects[name] = nil }
  }

  func deleteEntries(_ ranges: [Range<UInt64>]) throws {
    try step()
    let log = view().log
    for range in ranges { deleted[log, default: []].formUnion(range.clamped(to: 0..<UInt64(logs[log].count))) }
  }

  /// The numbers of the entries that were deleted, by log.
  private(set) var deleted: [Int: Set<UInt64>] = [:]

  private func isDeleted(_ number: UInt64, _ log: Int) -> Bool { deleted[log]?.contains(number) ?? false }

  // MARK: For tests of one case

  /// Entries behind a gap, in order: a program that writes to the engine has made them.
  var strays: [NumberedEntry] = []

  func cut(to count: Int) { logs[0].removeLast(logs[0].count - count) }
  func replace(_ number: Int, by entry: [UInt8]) { logs[0][number] = entry }
  func keepObjects(_ names: Set<ObjectName>) { objects = objects.filter { names.contains($0.key) } }

  // MARK: Faults that need no keys

  /// Cuts a log, and shows the rest of it to some devices only.
  func fork(_ devices: Int) {
    let source = Int.random(in: 0..<logs.count, using: &random)
    let cut = max(1, logs[source].count - Int.random(in: 0...4, using: &random))
    let common = Array(logs[source].prefix(cut))
    // A fork may end as the other history does.
    let tail = Bool.random(using: &random) ? logs[source].dropFirst(cut + 1) : []
    deleted[logs.count] = deleted[source]?.filter { $0 < cut }
    logs.append(tail.isEmpty ? common : common + [garbage()] + tail)
    for device in 0..<devices where Bool.random(using: &random) { views[device] = (logs.count - 1, 0) }
  }

  /// Shows a device another log.
  func swap(_ device: Int) {
    views[device] = (Int.random(in: 0..<logs.count, using: &random), 0)
  }

  func lag(_ device: Int) {
    let view = views[device] ?? (0, 0)
    views[device] = (view.log, Int.random(in: 0...3, using: &random))
  }

  /// Puts a log back to an old state.
  func restore() {
    let log = Int.random(in: 0..<logs.count, using: &random)
    logs[log].removeLast(min(logs[log].count - 1, Int.random(in: 0...5, using: &random)))
    deleted[log] = deleted[log]?.filter { $0 < logs[log].count }
  }

  /// Appends what a program without keys can make: noise, an old entry, an entry with a changed byte, a header that fits.
  func addGarbage() {
    let log = Int.random(in: 0..<logs.count, using: &random)
    logs[log].append(garbage(in: log))
    if Int.random(in: 0..<4, using: &random) == 0 {
      strays.append(NumberedEntry((strays.last?.number ?? 1 << 40) + UInt64.random(in: 1...2, using: &random), garbage(in: log)))
    }
  }

  private func garbage(in log: Int? = nil) -> [UInt8] {
    let log = log ?? 0
    var bytes = logs[log].randomElement(using: &random) ?? []
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return [UInt8](repeating: 7, count: Int.random(in: 0..<400, using: &random))
    case 1: break
    case 2 where !bytes.isEmpty: bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1
    default:
      // The right number, and the right or another C, of an epoch that may come.
      guard let last = logs[log].last, bytes.count > 72 else { return bytes }
      let number = UInt64(logs[log].count)
      bytes.replaceSubrange(24..<32, with: number.littleEndianBytes)
      if Bool.random(using: &random), last.count > 72 { bytes.replaceSubrange(32..<64, with: last[32..<64]) }
      bytes[64] &+= UInt8.random(in: 0...2, using: &random)
    }
    return bytes
  }

  /// Appends an entry for a device that has no right any more.
  func help(_ device: Int, _ entry: [UInt8], after count: UInt64) {
    makers[entry] = device
    for log in logs.indices where logs[log].count == count { logs[log].append(entry) }
  }

  /// From now on there is one log, and it is what it seems.
  func becomeHonest() {
    let log = Int.random(in: 0..<logs.count, using: &random)
    (logs, deleted) = ([logs[log]], [0: deleted[log] ?? []])
    (views, isHonest, callsUntilCrash) = ([:], true, nil)
  }
}
