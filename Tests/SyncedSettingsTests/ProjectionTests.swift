import CofferPreferences
import CofferPropertyLists
import CofferTesting
import Foundation
import Testing

@testable import SyncedSettings

/// The values of a store and the log's state of them.
@Suite struct ProjectionTests {
  private let bench: StoreBench

  init() throws { bench = try StoreBench() }

  @Test func aValueIsPendingUntilItIsSent() throws {
    let (app, projection) = (try bench.app(), try bench.projection())
    #expect(try projection.pending().isEmpty)
    try app.values.set(.string("x"), forKey: "k")
    let pending = try #require(try projection.pending().first)
    #expect(pending.value == .string("x") && pending.dot == nil)
    try app.values.set(.string("y"), forKey: "k")
    try projection.sent("k", hash: pending.hash, dot: [1], entry: 7)
    #expect(try projection.pending().first?.value == .string("y"))
    #expect(try projection.pending().first?.dot == [1])
    try projection.sendAll()
    #expect(try projection.pending().isEmpty)
    try app.values.set(nil, forKey: "k")
    #expect(try projection.pending().map(\.value) == [nil])
    try projection.sendAll()
    #expect(try projection.pending().isEmpty)
  }

  @Test func aValueThatComesIsToldOnce() throws {
    let (app, projection) = (try bench.app(), try bench.projection())
    let change = SyncedChange("k", .integer(5))
    #expect(try projection.receive([change], .serverChange, through: 9).isEmpty)
    #expect(app.values.value(forKey: "k") == .integer(5))
    #expect(projection.delivered == 9)
    #expect(try projection.pending().isEmpty)
    try projection.receive([change], .serverChange)
    let events = app.events(after: 0)
    #expect(events.count == 1 && app.changedKeys(in: events) == ["k"])
    try projection.receive([SyncedChange("k", nil, 2)], .serverChange)
    #expect(app.values.value(forKey: "k") == nil)
    #expect(app.events(after: events[0].sequence).map(\.reason) == [.serverChange])
    // Both together: the key has no value, as before.
    #expect(app.changedKeys(in: app.events(after: 0)).isEmpty)
  }

  @Test func aPendingValueIsLeftAlone() throws {
    let (app, projection) = (try bench.app(), try bench.projection())
    try projection.receive([SyncedChange("a", .integer(1)), SyncedChange("b", .integer(1))], .serverChange)
    try app.values.set(.string("mine"), forKey: "a")
    try app.values.set(nil, forKey: "b")
    let changes = [SyncedChange("a", .integer(2), 2), SyncedChange("b", .integer(2), 2), SyncedChange("c", .integer(2), 2)]
    #expect(try projection.receive(changes, .serverChange) == ["a", "b"])
    #expect(app.values.value(forKey: "a") == .string("mine"))
    #expect(app.values.value(forKey: "b") == nil)
    #expect(app.values.value(forKey: "c") == .integer(2))
    #expect(try projection.pendingKeys == ["a", "b"])
    // The values that they replace are those that the app knew.
    #expect(try projection.pending().map(\.dot) == Array(repeating: Array(repeating: 1, count: 16), count: 2))
  }

  @Test func anEqualValueOfBothIsNotTold() throws {
    let (app, projection) = (try bench.app(), try bench.projection())
    try app.values.set(.integer(1), forKey: "k")
    #expect(try projection.receive([SyncedChange("k", .integer(1))], .serverChange).isEmpty)
    #expect(try projection.pending().isEmpty)
    #expect(app.events(after: 0).isEmpty)
  }

  @Test(arguments: [SyncedReason.initialSync, .accountChange]) func someReasonsAreToldInAnyCase(reason: SyncedReason) throws {
    let (app, projection) = (try bench.app(), try bench.projection())
    try projection.receive([], reason)
    #expect(app.events(after: 0).map(\.reason) == [reason])
    try projection.receive([], .serverChange)
    #expect(app.events(after: 0).count == 1)
  }

  @Test func aRefusedValueGivesWayAndIsKept() throws {
    let (app, projection) = (try bench.app(), try bench.projection())
    try projection.receive([SyncedChange("k", .integer(1))], .serverChange)
    try app.values.set(.string("mine"), forKey: "k")
    let change = SyncedChange("k", .integer(1), refusing: .string("mine"))
    for _ in 0..<2 {
      #expect(try projection.receive([change], .quotaViolation).isEmpty)
      #expect(app.values.value(forKey: "k") == .integer(1))
      #expect(projection.refused.texts == ["k": "\(PropertyListValue.string("mine"))"])
      let events = app.events(after: 1)
      #expect(events.map(\.reason) == [.quotaViolation] && app.changedKeys(in: events) == ["k"])
    }
    // A value that came meanwhile is another one.
    try app.values.set(.string("later"), forKey: "k")
    #expect(try projection.receive([change], .quotaViolation) == ["k"])
    try projection.sendAll()
    #expect(projection.refused.isEmpty)
  }

  @Test func refusedValuesHaveALimit() throws {
    let projection = try bench.projection()
    let large = PropertyListValue.data(Array(repeating: 0, count: SyncedProjection.refusedByteCount / 2))
    let changes = (0..<4).map { SyncedChange("k\($0)", .integer(1), refusing: large) }
    for change in changes {
      try projection.store.values.set(large, forKey: change.key)
      try projection.receive([change], .initialSync)
    }
    #expect(projection.refused.count == 1)
    #expect(projection.store.values.value(forKey: "k3") == .integer(1))
  }

  /// A crash after each step of a delivery, and the same delivery again.
  @Test(arguments: 0..<3) func anInterruptedDeliveryIsMadeAgain(step: Int) throws {
    let app = try bench.app()
    try bench.projection().receive([SyncedChange("a", .integer(1)), SyncedChange("b", .integer(1))], .serverChange, through: 1)
    let hash = try bench.projection().hash(of: .integer(2))
    if step > 0 {
      let store = try bench.projection().store
      try store.state.set(.dictionary(.of(["a": .data(hash), "b": .data([])])), forKey: StateKey.receiving)
      if step > 1 { try store.values.apply([("a", .integer(2)), ("b", nil)]) }
    }
    let projection = try bench.projection()
    #expect(try projection.pending().isEmpty)
    let changes = [SyncedChange("a", .integer(2), 2), SyncedChange("b", nil, 2)]
    #expect(try projection.receive(changes, .serverChange, through: 2).isEmpty)
    #expect(app.values.values().texts == ["a": "\(PropertyListValue.integer(2))"])
    #expect(try projection.pending().isEmpty)
    #expect(app.changedKeys(in: app.events(after: 1)) == ["a", "b"])
    #expect(projection.store.state.value(forKey: StateKey.receiving) == nil)
    #expect(projection.delivered == 2)
  }

  @Test func valuesThatCannotBeReadAreNotRemoved() throws {
    weak var former: AnyObject?
    do {
      let projection = try bench.projection()
      try projection.receive([SyncedChange("a", .integer(1))], .serverChange)
      try projection.store.values.compact()
      former = projection.store.values
    }
    // The thread that watches the files may be at work for it, and would write the property list once more.
    while former != nil { usleep(1000) }
    let files = ["plist", "journal", "lock"].map { bench.root.appending(path: "SyncedPreferences/com.example.app.\($0)").path }
    for file in files.dropFirst() { try FileManager.default.removeItem(atPath: file) }
    try Data("damaged".utf8).write(to: URL(filePath: files[0]))
    let projection = try bench.projection()
    #expect(throws: PreferenceError(.damaged)) { try projection.pending() }
    #expect(throws: PreferenceError.self) { try projection.receive([SyncedChange("b", .integer(1))], .serverChange) }
  }

  /// An app can write `ID.sync`.
  @Test func damagedRecordsCountAsNone() throws {
    let projection = try bench.projection()
    try projection.store.values.set(.integer(1), forKey: "a")
    try projection.sendAll()
    for value in [
      PropertyListValue.integer(3), .dictionary(.of(["dot": .integer(1), "entry": .integer(-1), "hash": .data([])])),
    ] {
      try projection.store.state.apply([
        ("key a", value), ("event 9223372036854775807", value), ("receiving", value), ("delivered", .integer(-1)),
      ])
      #expect(try projection.pendingKeys == ["a"])
      #expect(projection.delivered == nil)
    }
    let event = SyncedEvent(sequence: .max - 1, reason: .serverChange, keys: .of(["a": .data([])]))
    try projection.store.state.set(event.value, forKey: StateKey.event(event.sequence))
    try projection.receive([SyncedChange("b", .integer(1))], .serverChange)
    #expect(projection.store.events(after: 0).map(\.sequence) == [1])
  }

  @Test func keysThatAreTooLongStayHere() throws {
    let projection = try bench.projection()
    let keys = [SyncedStore.keyByteCount, SyncedStore.keyByteCount + 1].map { String(repeating: "k", count: $0) }
    for key in keys { try projection.store.values.set(.integer(1), forKey: key) }
    #expect(try projection.pendingKeys == [keys[0]])
  }

  @Test func keysAreComparedByTheirBytes() throws {
    let (app, projection) = (try bench.app(), try bench.projection())
    let keys = ["\u{301}x", "é", "e\u{301}", "", " "]
    try projection.receive(keys.map { SyncedChange($0, .string($0)) }, .serverChange)
    #expect(try projection.pending().isEmpty)
    #expect(
      app.changedKeys(in: app.events(after: 0)).map { Array($0.utf8) }
        == keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
  }

  /// Random writes of an app, deliveries and sendings, compared to two dictionaries.
  @Test(arguments: 0..<10) func pendingIsTheDifferenceToTheLog(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var (local, log): ([String: PropertyListValue], [String: PropertyListValue]) = ([:], [:])
    var (app, projection) = (try bench.app(), try bench.projection())
    func isPending(_ key: String) -> Bool { local[key] != log[key] }
    for step in 0..<400 {
      let key = "k\(Int.random(in: 0..<12, using: &random))"
      let value: PropertyListValue? =
        Int.random(in: 0..<4, using: &random) == 0 ? nil : .integer(.random(in: 0..<3, using: &random))
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        try app.values.set(value, forKey: key)
        local[key] = value
      case 4..<7:
        let left = try projection.receive([SyncedChange(key, value, UInt8(step % 256))], .serverChange)
        let isTaken = !isPending(key) || local[key] == value
        #expect(left == (isTaken ? [] : [key]), "step \(step)")
        if isTaken { (local[key], log[key]) = (value, value) }
      case 7:
        for item in try projection.pending() where Bool.random(using: &random) {
          try projection.sent(item.key, hash: item.hash, dot: [], entry: 1)
          log[item.key] = item.value
        }
      case 8: (app, projection) = (try bench.app(), try bench.projection())
      default:
        try projection.store.values.compact()
        try projection.store.state.compact()
      }
      let wanted = Set(local.keys).union(log.keys).filter(isPending).sorted()
      let pending = try projection.pending()
      #expect(pending.map(\.key) == wanted.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, "step \(step)")
      #expect(pending.allSatisfy { $0.value == local[$0.key] })
    }
  }
}

extension PropertyListDictionary {
  static func of(_ values: [String: PropertyListValue]) -> PropertyListDictionary {
    var all = PropertyListDictionary()
    for (key, value) in values { all[key] = value }
    return all
  }

  var texts: [String: String] { Dictionary(uniqueKeysWithValues: unsorted.map { ($0.key, "\($0.value)") }) }
}
