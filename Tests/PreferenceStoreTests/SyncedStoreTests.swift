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

    /// Waits until that many notifications have come: they are posted one after the other, after the calls have returned.
    func first(_ count: Int) throws -> [String] {
      try wait(for: "\(count) notifications") { all.count >= count }
      return all
    }
  }

  @Test func aKeyHas64Bytes() throws {
    let store = try store()
    let posted = Posted(by: store)
    let keys = [String(repeating: "é", count: 32), String(repeating: "é", count: 32) + "x"]
    for key in keys { store.set(1.5, forKey: key) }
    #expect(try posted.first(1) == ["2 \(keys[1])"])
    #expect(Array(store.dictionaryRepresentation.keys) == [keys[0]])
  }

  @Test func aValueHasOneMebibyte() throws {
    let store = try store()
    let posted = Posted(by: store)
    // A data value has five bytes before its content, and the key does not count.
    store.set(Data(count: (1 << 20) - 5), forKey: "k")
    #expect(posted.all.isEmpty && store.data(forKey: "k")?.count == (1 << 20) - 5)
    store.set(Data(count: (1 << 20) - 4), forKey: "k")
    #expect(try posted.first(1) == ["2 k"] && store.data(forKey: "k")?.count == (1 << 20) - 5)
    store.set(Data(count: 2 << 20), forKey: "k")
    store.set(Array(repeating: 0, count: (1 << 20) + 1) as [Any]?, forKey: "k")
    store.set(false, forKey: "j")
    #expect(try posted.first(4) == ["2 k", "2 k", "2 k", "2 j"])
    #expect(store.object(forKey: "j") == nil && store.data(forKey: "k")?.count == (1 << 20) - 5)
    // Smaller values pass.
    store.set(Data(count: (1 << 20) - 6), forKey: "k")
    store.set(false, forKey: "j")
    #expect(store.object(forKey: "j") != nil)
    store.set(1.5, forKey: String(repeating: "k", count: 65))
    #expect(try posted.first(5).last?.utf8.count == 67)
  }

  @Test func aStoreHas1024Keys() throws {
    let store = try store()
    let posted = Posted(by: store)
    for number in 0..<1025 { store.set(Int64(number), forKey: "k\(number)") }
    #expect(try posted.first(1) == ["2 k1024"] && store.dictionaryRepresentation.count == 1024)
    store.set("other" as String?, forKey: "k5")
    store.removeObject(forKey: "k6")
    store.set(true, forKey: "k1024")
    #expect(store.string(forKey: "k5") == "other" && store.bool(forKey: "k1024"))
    store.set(true, forKey: "k6")
    #expect(try posted.first(2) == ["2 k1024", "2 k6"])
  }

  /// Also after a change of the key, by another process, and for a process that has not read the store: the sum is that of the values.
  @Test func keysDoNotCountForTheSum() throws {
    var stores = [try store(), try store()]
    for number in 0..<512 { stores[number % 2].set(Data(count: 2043), forKey: "\(number)" + String(repeating: "k", count: 50)) }
    #expect(stores[0].dictionaryRepresentation.count == 512)
    stores = [try store()]
    let posted = Posted(by: stores[0])
    stores[0].set(false, forKey: "j")
    #expect(try posted.first(1) == ["2 j"])
    stores[0].removeObject(forKey: "0" + String(repeating: "k", count: 50))
    stores[0].set(Data(count: 2043), forKey: "j")
    stores[0].set(Data(count: 2044), forKey: "j")
    #expect(try posted.first(2) == ["2 j", "2 j"] && stores[0].data(forKey: "j")?.count == 2043)
  }

  /// As on Apple's systems, where it is logged, while `UserDefaults` ends the program. The message has no part of the value.
  @Test func aValueThatIsNoPropertyListIsLoggedAndIgnored() async throws {
    let path = fixture.root.path
    try store().set("before" as String?, forKey: "k")
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) { [path = path as String] in
      let store = NSUbiquitousKeyValueStore(
        try StoreFixture(root: URL(fileURLWithPath: path)).lists.places, try DomainName("com.example.app"))
      let posted = Posted(by: store)
      store.set(NotAPropertyList(), forKey: "k")
      store.set(["private": NotAPropertyList()] as [String: Any]?, forKey: "k")
      store.set(["private", NotAPropertyList()] as [Any]?, forKey: "k")
      guard posted.all.isEmpty, store.string(forKey: "k") == "before" else { exit(1) }
      exit(0)
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.split(separator: "\n").filter { $0.hasSuffix("no value was stored for k: notAPropertyList") }.count == 3)
    #expect(!text.contains("private") && !text.contains("NotAPropertyList:"))
    #expect(try store().string(forKey: "k") == "before")
  }

  /// One of both classes: `set` does not end the program.
  @Test func aValueHas512Levels() throws {
    let (store, defaults) = (try store(), try fixture.standard)
    let posted = Posted(by: store)
    var value: [Any] = [1]
    for _ in 1..<512 { value = [value] }
    for value in [value, [value]] {
      store.set(value, forKey: "k\(store.dictionaryRepresentation.count)")
      defaults.set(value, forKey: "k\(defaults.object(forKey: "k0") == nil ? 0 : 1)")
    }
    #expect(try posted.first(1) == ["2 k1"] && Array(store.dictionaryRepresentation.keys) == ["k0"])
    #expect(defaults.object(forKey: "k0") != nil && defaults.object(forKey: "k1") == nil)
  }

  /// An observer that waits for the thread that sets a value would wait for ever otherwise, and one that sets a value overflow the stack.
  @Test func noCallWaitsForObservers() throws {
    let (store, projection) = (try store(), try projection())
    try projection.receive([.init("early", .integer(1), dot: [1], entry: 1)], .initialSync)
    let (returned, isFree) = (DispatchSemaphore(value: 0), Recorder<Bool>())
    let posted = Posted(by: store) { isFree.add(returned.wait(timeout: .now() + 20) == .success) }
    let calls = [{ store.set(1.5, forKey: String(repeating: "k", count: 65)) }, { _ = store.synchronize() }]
    for (number, call) in calls.enumerated() {
      call()
      #expect(isFree.all.count == number)
      returned.signal()
      try wait(for: "observer \(number)") { isFree.all.count > number }
    }
    #expect(try posted.first(2).last == "1 early" && isFree.all == [true, true])
  }

  // MARK: Notifications

  @Test func onlyOtherDevicesArePosted() throws {
    let (store, other, projection) = (try store(), try store(), try projection())
    let posted = Posted(by: store)
    #expect(store.synchronize())
    store.set("own" as String?, forKey: "own")
    other.set("other" as String?, forKey: "other")
    try projection.receive([.init("k", .string("far"), dot: [1], entry: 1)], .serverChange)
    #expect(try posted.first(1) == ["0 k"] && store.string(forKey: "k") == "far" && store.string(forKey: "other") == "other")
    try projection.receive([.init("k", nil, dot: [2], entry: 2)], .accountChange)
    #expect(try posted.first(2) == ["0 k", "3 k"] && store.string(forKey: "k") == nil)
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
    #expect(try posted.first(1) == ["1 a,b"])
    store.synchronize()
    try projection.receive([.init("a", .integer(5), dot: [5], entry: 5)], .serverChange)
    #expect(try posted.first(2) == ["1 a,b", "0 a"])
    // A later process of the app is not told again.
    try wait(for: "the note") { projection.store.seen == 5 }
    let next = try self.store()
    let nextPosted = Posted(by: next)
    next.synchronize()
    try projection.receive([.init("b", .integer(6), dot: [6], entry: 6)], .serverChange)
    #expect(try nextPosted.first(1) == ["0 b"])
  }

  /// Also if others have written meanwhile: the program would not learn otherwise that its value is another one.
  @Test func aRefusedValueIsANotificationOfItsOwn() throws {
    let projection = try projection()
    try projection.receive([.init("a", .integer(1), dot: [1], entry: 1)], .initialSync)
    try projection.store.values.set(.integer(9), forKey: "k")
    let change = SyncedChange("k", nil, dot: [], entry: 0, refusing: .integer(9))
    try projection.receive([change], .quotaViolation)
    try projection.receive([.init("b", .integer(1), dot: [2], entry: 2)], .serverChange)
    let store = try store()
    let posted = Posted(by: store)
    store.synchronize()
    #expect(try posted.first(2) == ["1 a,b", "2 k"])
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
    #expect(try [posted[0].first(2), posted[1].first(1)] == [["0 k", "0 l"], ["0 k,l"]])
  }

  @Test func anObserverMayUseTheStore() throws {
    let (store, projection) = (try store(), try projection())
    let posted = Posted(by: store) {
      store.set("seen" as String?, forKey: "own")
      store.set(1.5, forKey: String(repeating: "k", count: 65))
      store.synchronize()
    }
    store.synchronize()
    try projection.receive([.init("k", .integer(1), dot: [1], entry: 1)], .serverChange)
    // Each of them causes the next one.
    _ = try posted.first(100)
    #expect(store.string(forKey: "own") == "seen")
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
