import CofferPreferences
import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

@Suite struct NotificationTests {
  @Test("didChange is posted for each change of this process, and not for an equal value")
  func ownChanges() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    let notifications = Notifications(of: defaults)
    func posts(_ body: () -> Void) -> Int {
      let before = notifications.count
      body()
      return notifications.count - before
    }
    #expect(posts { defaults.set(1, forKey: "k") } == 1)
    #expect(posts { defaults.set(1, forKey: "k") } == 0)
    #expect(posts { defaults.set(true, forKey: "k") } == 1)
    #expect(posts { defaults.removeObject(forKey: "k") } == 1)
    #expect(posts { defaults.removeObject(forKey: "k") } == 0)
    #expect(posts { defaults.register(defaults: ["a": 1, "b": 2]) } == 1)
    #expect(posts { defaults.register(defaults: ["a": 1]) } == 0)
    #expect(posts { defaults.setVolatileDomain(["c": "d"], forName: UserDefaults.argumentDomain) } == 1)
    #expect(posts { defaults.addSuite(named: "com.example.suite") } == 1)
    #expect(posts { defaults.removeSuite(named: "com.example.suite") } == 1)
    #expect(posts { defaults.setPersistentDomain(["a": 1], forName: "com.example.other") } == 1)
    #expect(posts { defaults.removePersistentDomain(forName: "com.example.other") } == 1)
    #expect(posts { defaults.removePersistentDomain(forName: "com.example.other") } == 1)
    #expect(posts { defaults.setPersistentDomain(["k": 1], forName: StoreFixture.name) } == 1)
    #expect(posts { defaults.setPersistentDomain(["g": 1], forName: UserDefaults.globalDomain) } == 1)
    #expect(notifications.all.allSatisfy { $0 == false })
  }

  @Test("didChange is posted for a change of another process, with its origin")
  func otherChanges() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    defaults.set(0, forKey: "k")
    let notifications = Notifications(of: defaults)
    let changes = Recorder<PreferenceChange.Origin>()
    let observation = defaults.observe("k") { changes.add($0.origin) }
    // Two objects with the same files behave as two processes.
    let other = FileDomain(try DomainName(StoreFixture.name), in: PreferenceDirectory(fixture.lists.places.user))
    try other.set(.integer(5), forKey: "k")
    #expect(defaults.integer(forKey: "k") == 5)
    #expect(eventually { notifications.all == [true] && changes.all == [.otherProcess] })
    observation.cancel()
  }

  @Test func theNameIsFoundations() {
    #expect(UserDefaults.didChangeNotification == Foundation.UserDefaults.didChangeNotification)
    #expect(UserDefaults.didChangeNotification.rawValue == "NSUserDefaultsDidChangeNotification")
  }

  @Test func anObserverOfTheNotificationMayWrite() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    let token = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
    ) { _ in
      let count = defaults.integer(forKey: "count")
      if count < 3 { defaults.set(count + 1, forKey: "count") }
    }
    defaults.set("x", forKey: "k")
    #expect(defaults.integer(forKey: "count") == 3)
    NotificationCenter.default.removeObserver(token)
  }

  @Test("an observer of a key gets old and new, also with dots in it")
  func keyObservation() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    let changes = Recorder<UserDefaults.Change>()
    let observation = defaults.observe("a.b.c", options: .initial) { changes.add($0) }
    #expect(changes.all.count == 1)
    #expect(changes.all.first?.isInitial == true)
    defaults.set(1, forKey: "a.b.c")
    defaults.set(1, forKey: "a.b.c")
    defaults.set("two", forKey: "a.b.c")
    defaults.removeObject(forKey: "a.b.c")
    defaults.register(defaults: ["a.b.c": 3])
    let own = changes.all.dropFirst()
    #expect(own.map(\.newValue) == [.integer(1), .string("two"), nil, .integer(3)])
    #expect(own.map(\.oldValue) == [nil, .integer(1), .string("two"), nil])
    #expect(own.allSatisfy { $0.origin == .thisProcess && !$0.isInitial && $0.key == "a.b.c" })
    #expect(own.first?.new as? Int == 1)
    #expect(own.first?.old == nil)
    observation.cancel()
    defaults.set(9, forKey: "a.b.c")
    #expect(changes.all.count == 5)
  }

  @Test func streams() async throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    let one = defaults.changes(forKey: "k")
    let all = defaults.changes
    defaults.set(1, forKey: "k")
    defaults.set(2, forKey: "other")
    defaults.set(3, forKey: "k")
    var values: [PropertyListValue?] = []
    for await change in one {
      values.append(change.newValue)
      if values.count == 2 { break }
    }
    #expect(values == [.integer(1), .integer(3)])
    var keys: [String] = []
    for await change in all {
      keys.append(change.key)
      if keys.count == 3 { break }
    }
    #expect(keys == ["k", "other", "k"])
  }

  @Test func anUnusedStoreIsDeallocated() throws {
    let fixture = try StoreFixture()
    weak var gone: UserDefaults?
    do {
      let defaults = try fixture.standard
      gone = defaults
      defaults.set(1, forKey: "k")
    }
    #expect(gone == nil)
    // An observation continues without the object on which it was made.
    let values = Recorder<Int>()
    let observation = try fixture.standard.observe("k") { _ in values.add(1) }
    try fixture.standard.set(2, forKey: "k")
    #expect(values.all == [1])
    observation.cancel()
  }
}
