import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

@Suite struct AppStorageTests {
  private struct One: Sendable {
    @AppStorage("n") var n = 1
    init(_ store: UserDefaults) { _n = AppStorage(wrappedValue: 1, "n", store: store) }
  }

  private final class Other: Sendable {
    let storage: AppStorage<Int>
    init(_ store: UserDefaults) { storage = AppStorage(wrappedValue: 334, "n", store: store) }
    var n: Int {
      get { storage.wrappedValue }
      set { storage.wrappedValue = newValue }
    }
  }

  @Test("literals are initial values")
  func literals() throws {
    struct Settings {
      @AppStorage("flag") var flag = true
      @AppStorage("count") var count = 3
    }
    let store = try StoreFixture().standard
    UserDefaults.withDefaultAppStorage(store) {
      let settings = Settings()
      #expect(settings.flag)
      #expect(settings.count == 3)
      settings.count += 1
      settings.flag.toggle()
      #expect(store.integer(forKey: "count") == 4)
      #expect(store.object(forKey: "flag") as? Bool == false)
    }
  }

  @Test("a key that is deleted gives the initial value, not 0")
  func deleted() throws {
    let store = try StoreFixture().standard
    let one = One(store)
    one.n = 5
    #expect(one.n == 5)
    store.removeObject(forKey: "n")
    #expect(one.n == 1)
  }

  @Test("the initial value is not registered")
  func notRegistered() throws {
    let fixture = try StoreFixture()
    let store = try fixture.standard
    #expect(One(store).n == 1)
    #expect(store.object(forKey: "n") == nil)
    #expect(try fixture.suite("com.example.elsewhere")?.object(forKey: "n") == nil)
  }

  @Test("a value of another type gives the initial value, and stays")
  func anotherType() throws {
    let store = try StoreFixture().standard
    let one = One(store)
    store.set("text", forKey: "n")
    #expect(one.n == 1)
    #expect(store.string(forKey: "n") == "text")
    store.set(2.5, forKey: "n")
    #expect(one.n == 1)
    store.set(2.0, forKey: "n")
    #expect(one.n == 2)
  }

  @Test("two wrappers of one key: each its own initial value, until one sets")
  func twoWrappers() throws {
    let store = try StoreFixture().standard
    let (one, other) = (One(store), Other(store))
    let screens = [Screen { _ = one.n }, Screen { _ = other.n }]
    #expect(one.n == 1 && other.n == 334)
    #expect(screens[1].invalidations { one.n += 1 } == 1)
    #expect(screens[0].invalidations == 1)
    screens[0].draw()
    #expect(one.n == 2 && other.n == 2)
    #expect(store.integer(forKey: "n") == 2)
    #expect(screens[0].invalidations { store.removeObject(forKey: "n") } == 1)
    #expect(screens[1].invalidations == 2)
    #expect(one.n == 1 && other.n == 334)
  }

  @Test("several wrappers of one key in one type")
  func inOneType() throws {
    struct Both: Sendable {
      @AppStorage("n") var first = 1
      @AppStorage("n") var second = 334
    }
    let store = try StoreFixture().standard
    UserDefaults.withDefaultAppStorage(store) {
      let both = Both()
      let screen = Screen { _ = (both.first, both.second) }
      #expect(both.first == 1 && both.second == 334)
      #expect(screen.invalidations { both.first += 1 } == 1)
      #expect(both.first == 2 && both.second == 2)
      #expect(screen.invalidations { store.removeObject(forKey: "n") } == 1)
      #expect(both.first == 1 && both.second == 334)
    }
  }

  @Test("a registered value comes before the initial one")
  func registeredBefore() throws {
    let store = try StoreFixture().standard
    store.register(defaults: ["n": 12345])
    let one = One(store)
    let screen = Screen { _ = one.n }
    #expect(one.n == 12345)
    #expect(screen.invalidations { one.n += 1 } == 1)
    #expect(one.n == 12346)
    #expect(screen.invalidations { store.removeObject(forKey: "n") } == 1)
    #expect(one.n == 12345)
  }

  @Test("a value that is registered later is seen at once, and stays")
  func registeredLater() throws {
    let store = try StoreFixture().standard
    let (one, other) = (One(store), Other(store))
    let screens = [Screen { _ = one.n }, Screen { _ = other.n }]
    #expect(one.n == 1 && other.n == 334)
    #expect(screens[0].invalidations { store.register(defaults: ["n": 56789]) } == 1)
    #expect(screens[1].invalidations == 1)
    screens[1].draw()
    #expect(one.n == 56789 && other.n == 56789)
    #expect(screens[0].invalidations { store.removeObject(forKey: "n") } == 0)
    #expect(screens[1].invalidations == 1)
    #expect(one.n == 56789 && other.n == 56789)
    #expect(screens[0].invalidations { store.register(defaults: ["n": 56789]) } == 0)
  }

  @Test("the initial value comes after each of the five domains")
  func lowestPriority() throws {
    let fixture = try StoreFixture(arguments: ["-argument", "2", "-name", "Ada"]) { files in
      try files.write(["global": 3, "AppleLanguages": ["ja"]], to: "Preferences/.GlobalPreferences.plist")
      try files.write(["language": 4], to: "Languages/ja.plist")
      try files.write(["application": 5], to: "Preferences/\(StoreFixture.name).plist")
    }
    let store = try fixture.standard
    store.register(defaults: ["registration": 6])
    for (key, value) in [("argument", 2), ("global", 3), ("language", 4), ("application", 5), ("registration", 6), ("none", 1)] {
      #expect(AppStorage(wrappedValue: 1, key, store: store).wrappedValue == value, "\(key)")
    }
    #expect(AppStorage(wrappedValue: "", "name", store: store).wrappedValue == "Ada")
  }

  @Test("a binding sets the value that all readers read")
  func binding() throws {
    struct Window: Codable, Storable { var width = 80, height = 24 }
    let store = try StoreFixture().standard
    let flag = AppStorage(wrappedValue: false, "flag", store: store)
    let toggle = flag.projectedValue
    toggle.wrappedValue = true
    #expect(store.bool(forKey: "flag"))
    store.set(false, forKey: "flag")
    #expect(!toggle.wrappedValue)
    let window = AppStorage(wrappedValue: Window(), "window", store: store)
    window.projectedValue.width.wrappedValue = 132
    #expect(store.dictionary(forKey: "window") as? [String: Int] == ["width": 132, "height": 24])
  }

  @Test("deleting it in the store is heard of by its readers")
  func deletedInStore() throws {
    let store = try StoreFixture().standard
    let one = One(store)
    one.n = 2
    let screen = Screen { _ = one.n }
    #expect(screen.invalidations { store.removeObject(forKey: "n") } == 1)
    #expect(screen.invalidations { store.removeObject(forKey: "n") } == 0)
  }

  @Test("a store that is named, or the standard one")
  func stores() throws {
    let fixture = try StoreFixture()
    let group = try #require(try fixture.suite("com.example.group"))
    let standard = try fixture.standard
    UserDefaults.withDefaultAppStorage(standard) {
      let named = AppStorage(wrappedValue: 0, "n", store: group)
      let other = AppStorage(wrappedValue: 0, "n")
      named.wrappedValue = 1
      other.wrappedValue = 2
    }
    #expect(group.integer(forKey: "n") == 1)
    #expect(standard.integer(forKey: "n") == 2)
    #expect(UserDefaults.defaultAppStorage === UserDefaults.standard)
    // The settings of this process are in a directory that is removed with it.
    let home = try #require(ProcessInfo.processInfo.environment["COFFER_HOME"])
    let own = UserDefaults.standard.domains().first { $0.kind == .application }
    #expect(home.contains("/coffer-tests-") && own?.path?.hasPrefix(home) == true)
  }

  @Test("the default store of a scope applies to wrappers used or made in it")
  func scopes() throws {
    let fixture = try StoreFixture()
    let (first, second) = (try fixture.standard, try #require(try fixture.suite("com.example.second")))
    let made = UserDefaults.withDefaultAppStorage(first) {
      let made = AppStorage(wrappedValue: 0, "n")
      made.wrappedValue = 1
      return made
    }
    #expect(made.wrappedValue == 1)
    UserDefaults.withDefaultAppStorage(second) {
      #expect(made.wrappedValue == 0)
      made.wrappedValue = 2
    }
    #expect(made.wrappedValue == 1)
    #expect(second.integer(forKey: "n") == 2)
  }

  @Test("each change is one invalidation, and an equal value is no change")
  func invalidations() throws {
    let store = try StoreFixture().standard
    let one = One(store)
    let screen = Screen { _ = one.n }
    for value in 2...20 { #expect(screen.invalidations { one.n = value } == 1) }
    #expect(screen.invalidations { one.n = 20 } == 0)
    #expect(screen.invalidations { store.set(20, forKey: "n") } == 0)
    // A view that was not drawn again needs no second notification.
    #expect(
      screen.invalidations {
        one.n = 21
        one.n = 22
      } == 1)
  }

  @Test("an assignment updates the store and its readers")
  func assignment() throws {
    let store = try StoreFixture().standard
    let one = One(store)
    let screen = Screen { _ = one.n }
    let number = Int.random(in: 100...199)
    #expect(screen.invalidations { one.n = number } == 1)
    #expect(store.integer(forKey: "n") == number)
  }

  @Test("a stored value comes before the initial one")
  func storedValue() throws {
    let store = try StoreFixture().standard
    store.set("Ada", forKey: "name")
    #expect(AppStorage(wrappedValue: "nobody", "name", store: store).wrappedValue == "Ada")
  }

  @Test("without an initial value it is an Optional, and nil removes")
  func optional() throws {
    struct Settings {
      @AppStorage("name") var name: String?
    }
    let store = try StoreFixture().standard
    UserDefaults.withDefaultAppStorage(store) {
      let settings = Settings()
      #expect(settings.name == nil)
      settings.name = "Ada"
      #expect(settings.name == "Ada")
      #expect(store.string(forKey: "name") == "Ada")
      settings.name = nil
      #expect(store.object(forKey: "name") == nil)
    }
  }

  @Test("setting it in the store updates every wrapper that depends on it")
  func everyWrapper() throws {
    let store = try StoreFixture().standard
    let wrappers = (0..<3).map { AppStorage(wrappedValue: $0, "n", store: store) }
    let screens = wrappers.map { wrapper in Screen { _ = wrapper.wrappedValue } }
    store.set(7, forKey: "n")
    #expect(screens.map(\.invalidations) == [1, 1, 1])
    #expect(wrappers.map(\.wrappedValue) == [7, 7, 7])
  }

  @Test("setting a hidden value announces no change, but stores it")
  func hidden() throws {
    let fixture = try StoreFixture(arguments: ["-n", "9"])
    let store = try fixture.standard
    let one = One(store)
    let screen = Screen { _ = one.n }
    #expect(screen.invalidations { one.n = 2 } == 0)
    #expect(one.n == 9)
    #expect(store.persistentDomain(forName: StoreFixture.name)?["n"] as? Int == 2)
    store.register(defaults: ["m": 3])
    let equal = AppStorage(wrappedValue: 1, "m", store: store)
    equal.wrappedValue = 3
    #expect(store.persistentDomain(forName: StoreFixture.name)?["m"] as? Int == 3)
  }

  @Test("a subclass of the store is asked in its own way")
  func subclass() {
    final class Memory: UserDefaults, @unchecked Sendable {
      var values: [String: Any] = [:]
      override func object(forKey key: String) -> Any? { values[key] }
      override func set(_ value: Any?, forKey key: String) { values[key] = value }
      override func removeObject(forKey key: String) { values[key] = nil }
    }
    guard let store = Memory(suiteName: "com.example.memory") else { return #expect(Bool(false)) }
    let storage = AppStorage<Int?>("n", store: store)
    storage.wrappedValue = 3
    #expect(store.values["n"] as? Int == 3)
    #expect(storage.wrappedValue == 3)
    storage.wrappedValue = nil
    #expect(store.values.isEmpty)
  }
}
