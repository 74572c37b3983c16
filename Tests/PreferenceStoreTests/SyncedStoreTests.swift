import CofferPreferences
import CofferPropertyLists
import Foundation
import PreferenceStore
import SyncedSettings
import Synchronization
import Testing
import Waiting

/// `NSUbiquitousKeyValueStore` on one device. Several objects in one process behave as several processes.
@Suite struct SyncedStoreTests {
  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  private func store(_ name: String = "com.example.app") throws -> NSUbiquitousKeyValueStore {
    NSUbiquitousKeyValueStore(fixture.lists.places, try DomainName(name))
  }

  /// The program that synchronises. Bytes are their own hash here.
  private func projection(_ name: String = "com.example.app") throws -> SyncedProjection {
    let directory = PreferenceDirectory(fixture.root.appending(path: "SyncedPreferences").path)
    return SyncedProjection(SyncedStore(try DomainName(name), in: directory)) { $0 }
  }

  @Test func valuesAreReadAsFromUserDefaults() throws {
    let store = try store()
    for key in ["none", "data"] {
      #expect(store.string(forKey: key) == nil && store.array(forKey: key) == nil && store.dictionary(forKey: key) == nil)
      #expect(store.longLong(forKey: key) == 0 && store.double(forKey: key) == 0 && !store.bool(forKey: key))
      store.set(Data([1, 2]), forKey: "data")
    }
    #expect(store.object(forKey: "none") == nil && store.data(forKey: "none") == nil)
    #expect(store.data(forKey: "data") == Data([1, 2]))
    store.set("12abc" as String?, forKey: "text")
    #expect(store.longLong(forKey: "text") == 12 && store.double(forKey: "text") == 12 && store.bool(forKey: "text"))
    store.set(Int64.max, forKey: "number")
    #expect(store.longLong(forKey: "number") == .max && store.string(forKey: "number") == "\(Int64.max)")
    store.set(2.5, forKey: "real")
    #expect(store.longLong(forKey: "real") == 2 && store.double(forKey: "real") == 2.5)
    store.set(true, forKey: "flag")
    #expect(store.bool(forKey: "flag") && store.string(forKey: "flag") == "1")
    store.set([1, "a"] as [Any]?, forKey: "array")
    #expect(store.array(forKey: "array")?.count == 2)
    store.set(["a": 1] as [String: Any]?, forKey: "dictionary")
    #expect(store.dictionary(forKey: "dictionary")?["a"] as? Int == 1)
    store.set(Date(timeIntervalSince1970: 1) as Any?, forKey: "date")
    #expect(store.object(forKey: "date") as? Date == Date(timeIntervalSince1970: 1))
    #expect(
      Set(store.dictionaryRepresentation.keys) == ["data", "text", "number", "real", "flag", "array", "dictionary", "date"])
    store.set(nil as String?, forKey: "text")
    store.set(nil as Any?, forKey: "number")
    store.set(nil as [Any]?, forKey: "array")
    store.removeObject(forKey: "real")
    #expect(Set(store.dictionaryRepresentation.keys) == ["data", "flag", "dictionary", "date"])
  }

  @Test func theSettingsOfUserDefaultsAreOthers() throws {
    try store().set("x" as String?, forKey: "k")
    #expect(try fixture.standard.string(forKey: "k") == nil)
    #expect(try store("other").string(forKey: "k") == nil)
  }

  /// As tests of programs do.
  private final class Subclass: NSUbiquitousKeyValueStore, @unchecked Sendable {
    override func bool(forKey aKey: String) -> Bool { true }
  }

  @Test func aSubclassHasItsOwnMethods() throws {
    let store: NSUbiquitousKeyValueStore = Subclass()
    #expect(store.bool(forKey: "none") && store.string(forKey: "none") == nil)
  }

  // MARK: Limits

  /// The keys for which the reason was posted.
  private final class Posted: Sendable {
    private let entries = Recorder<(reason: Int, keys: [String])>()
    nonisolated(unsafe) private let token: any NSObjectProtocol

    init(by store: NSUbiquitousKeyValueStore, _ body: @escaping @Sendable () -> Void = {}) {
      let name = NSUbiquitousKeyValueStore.didChangeExternallyNotification
      unsafe token = NotificationCenter.default.addObserver(forName: name, object: store, queue: nil) { [entries] in
        let reason = $0.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int
        let keys = $0.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
        entries.add((reason ?? -1, keys ?? ["none"]))
        body()
      }
    }

    deinit { unsafe NotificationCenter.default.removeObserver(token) }

    var all: [String] { entries.all.map { "\($0.reason) \($0.keys.joined(separator: ","))" } }
  }

  @Test func aKeyHas64Bytes() throws {
    let store = try store()
    let posted = Posted(by: store)
    let keys = [String(repeating: "é", count: 32), String(repeating: "é", count: 32) + "x"]
    for key in keys { store.set(1.5, forKey: key) }
    #expect(posted.all == ["2 \(keys[1])"])
    #expect(Array(store.dictionaryRepresentation.keys) == [keys[0]])
  }

  @Test func aValueHasOneMebibyte() throws {
    let store = try store()
    let posted = Posted(by: store)
    // A data value has five bytes before its content, and the key counts too.
    store.set(Data(count: (1 << 20) - 6), forKey: "k")
    #expect(posted.all.isEmpty && store.data(forKey: "k")?.count == (1 << 20) - 6)
    store.set(Data(count: (1 << 20) - 5), forKey: "k")
    #expect(posted.all == ["2 k"] && store.data(forKey: "k")?.count == (1 << 20) - 6)
    store.set(Data(count: 2 << 20), forKey: "k")
    store.set(Array(repeating: 0, count: (1 << 20) + 1) as [Any]?, forKey: "k")
    store.set(false, forKey: "j")
    #expect(posted.all == ["2 k", "2 k", "2 k", "2 j"])
    #expect(store.object(forKey: "j") == nil && store.data(forKey: "k")?.count == (1 << 20) - 6)
    // Smaller values pass.
    store.set(Data(count: (1 << 20) - 8), forKey: "k")
    store.set(false, forKey: "j")
    #expect(posted.all.count == 4 && store.object(forKey: "j") != nil)
  }

  @Test func aStoreHas1024Keys() throws {
    let store = try store()
    let posted = Posted(by: store)
    for number in 0..<1025 { store.set(Int64(number), forKey: "k\(number)") }
    #expect(posted.all == ["2 k1024"] && store.dictionaryRepresentation.count == 1024)
    store.set("other" as String?, forKey: "k5")
    store.removeObject(forKey: "k6")
    store.set(true, forKey: "k1024")
    #expect(posted.all.count == 1 && store.string(forKey: "k5") == "other" && store.bool(forKey: "k1024"))
  }

  // MARK: Notifications

  @Test func onlyOtherDevicesArePosted() throws {
    let (store, other, projection) = (try store(), try store(), try projection())
    let posted = Posted(by: store)
    #expect(store.synchronize())
    store.set("own" as String?, forKey: "own")
    other.set("other" as String?, forKey: "other")
    try projection.receive([.init("k", .string("far"), dot: [1], entry: 1)], .serverChange)
    try wait(for: "the notification") { !posted.all.isEmpty }
    #expect(posted.all == ["0 k"] && store.string(forKey: "k") == "far" && store.string(forKey: "other") == "other")
    try projection.receive([.init("k", nil, dot: [2], entry: 2)], .accountChange)
    try wait(for: "the second notification") { posted.all.count > 1 }
    #expect(posted.all == ["0 k", "3 k"] && store.string(forKey: "k") == nil)
  }

  @Test func valuesThatCameBeforeAreOneNotification() throws {
    let projection = try projection()
    try projection.receive(
      [.init("a", .integer(1), dot: [1], entry: 1), .init("b", .integer(1), dot: [1], entry: 1)], .initialSync)
    try projection.receive([.init("b", .integer(2), dot: [2], entry: 2)], .serverChange)
    try projection.receive([.init("c", .integer(1), dot: [3], entry: 3)], .serverChange)
    try projection.receive([.init("c", nil, dot: [4], entry: 4)], .serverChange)
    let store = try store()
    let posted = Posted(by: store)
    #expect(posted.all.isEmpty)
    store.synchronize()
    // The third key has no value, as before.
    #expect(posted.all == ["1 a,b"])
    store.synchronize()
    #expect(posted.all.count == 1)
    try projection.receive([.init("a", .integer(5), dot: [5], entry: 5)], .serverChange)
    try wait(for: "the later one") { posted.all.count == 2 }
    // A later process of the app is not told again.
    try wait(for: "the note") { projection.store.seen == 5 }
    let next = try self.store()
    let nextPosted = Posted(by: next)
    next.synchronize()
    #expect(nextPosted.all.isEmpty)
  }

  @Test func eachProcessThatRunsIsTold() throws {
    let (first, second, projection) = (try store(), try store(), try projection())
    let posted = [Posted(by: first), Posted(by: second)]
    first.synchronize()
    for (number, key) in [(1, "k"), (2, "l")] {
      try projection.receive([.init(key, .integer(1), dot: [1], entry: 1)], .serverChange)
      try wait(for: "note \(number)") { projection.store.seen == number }
    }
    // The second has run all the time, and may have read the former values. It is told of nothing before it asks.
    second.synchronize()
    #expect(posted.map(\.all) == [["0 k", "0 l"], ["0 k,l"]])
  }

  @Test func anObserverMayUseTheStore() throws {
    let (store, projection) = (try store(), try projection())
    let posted = Posted(by: store) {
      store.set("seen" as String?, forKey: "own")
      store.set(Data(count: 2 << 20), forKey: "large")
      store.synchronize()
    }
    _ = posted
    store.synchronize()
    try projection.receive([.init("k", .integer(1), dot: [1], entry: 1)], .serverChange)
    try wait(for: "the value of the observer") { store.string(forKey: "own") == "seen" }
  }

  // MARK: synchronize

  @Test func synchronizeAsksForAPush() throws {
    let (store, projection) = (try store(), try projection())
    let asked = Mutex(0)
    let observation = projection.store.observeRequests { _ in
    } asked: {
      asked.withLock { $0 += 1 }
    }
    #expect(store.synchronize())
    try wait(for: "the request") { asked.withLock { $0 } == 1 }
    observation.cancel()
  }

  @Test func aDiskThatRefusesIsReported() throws {
    try Data().write(to: fixture.root.appending(path: "SyncedPreferences"))
    let store = try store()
    store.set("kept" as String?, forKey: "k")
    #expect(store.string(forKey: "k") == "kept")
    #expect(!store.synchronize())
    try FileManager.default.removeItem(at: fixture.root.appending(path: "SyncedPreferences"))
    #expect(store.synchronize())
    #expect(try self.store().string(forKey: "k") == "kept")
  }

  @Test func aNameThatNoStoreHasIsReported() throws {
    let store = try store("com.example.sync")
    store.set("kept" as String?, forKey: "k")
    #expect(store.string(forKey: "k") == "kept" && !store.synchronize())
  }
}
