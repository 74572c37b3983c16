import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing
import Waiting

import class PreferenceStore.UserDefaults

extension SettingKeys {
  fileprivate var volume: Key<Double> { Key("volume", default: 0.8) }
  fileprivate var nickname: Key<String?> { Key("nickname") }
  fileprivate var recent: Key<[String]> { Key("recent", default: []) }
}

@Suite struct KeyTests {
  private final class Settings: SharedSettings, Sendable {
    static let shared = Settings(nil)
    private let storage: AppStorage<String>
    init(_ store: UserDefaults?) { storage = AppStorage(wrappedValue: "fatbobman", "name", store: store) }
    var name: String {
      get { storage.wrappedValue }
      set { storage.wrappedValue = newValue }
    }
  }

  @Test("typed keys have their type and their default in one place, for every type")
  func typedKeys() throws {
    let store = try StoreFixture().standard
    #expect(store[\.volume] == 0.8)
    store[\.volume] = 0.5
    store[\.recent].append("Goldberg Variations")
    store[\.nickname] = "ada"
    #expect(store[\.volume] == 0.5)
    #expect(store.double(forKey: "volume") == 0.5)
    #expect(store.stringArray(forKey: "recent") == ["Goldberg Variations"])
    #expect(store[\.nickname] == "ada")
    store[\.nickname] = nil
    #expect(store.object(forKey: "nickname") == nil)
    store.reset(\.volume)
    #expect(store[\.volume] == 0.8)
    store.set("loud", forKey: "volume")
    #expect(store[\.volume] == 0.8)
    #expect(store.string(forKey: "volume") == "loud")
    let count = Key("count", default: 3)
    #expect(store.value(of: count) == 3)
    store.set(4, for: count)
    #expect(store.integer(forKey: "count") == 4)
    store.reset(count)
    #expect(AppStorage(count, store: store).wrappedValue == 3)
    #expect(AppStorage(\.recent, store: store).wrappedValue == ["Goldberg Variations"])
  }

  @Test("Default has a key path, of a key or of a settings object, and a binding")
  func defaults() throws {
    struct View {
      @Default(\.volume) var volume
      @Default(\.nickname) var nickname
    }
    let store = try StoreFixture().standard
    UserDefaults.withDefaultAppStorage(store) {
      let view = View()
      #expect(view.volume == 0.8)
      view.$volume.wrappedValue = 0.25
      view.nickname = "ada"
      #expect(store[\.volume] == 0.25)
      #expect(store[\.nickname] == "ada")
    }
    let settings = Settings(store)
    let name = Default(\Settings.name, in: settings)
    let screen = Screen { _ = settings.name }
    #expect(screen.invalidations { name.projectedValue.wrappedValue = "Ada" } == 1)
    #expect(name.wrappedValue == "Ada")
    #expect(store.string(forKey: "name") == "Ada")
  }

  @Test("a settings object is the shared one, or the one that is given")
  func sharedSettings() throws {
    struct View {
      @Default(\Settings.name) var shared
      @Default var given: String
      init(_ settings: Settings) { _given = Default(\Settings.name, defaults: settings) }
    }
    let fixture = try StoreFixture()
    let (store, other) = (try fixture.standard, try #require(try fixture.suite("com.example.other")))
    UserDefaults.withDefaultAppStorage(store) {
      let view = View(Settings(other))
      view.shared = "shared"
      view.given = "given"
    }
    #expect(store.string(forKey: "name") == "shared")
    #expect(other.string(forKey: "name") == "given")
  }

  @MainActor private final class Heard {
    var changes: [String] = []
  }

  @Test("each onChange is called on the main actor with the old and the new value")
  @MainActor func onChange() async throws {
    let store = try StoreFixture().standard
    let (heard, again) = (Heard(), Heard())
    let volume = Default(\.volume, store: store)
    let observations = [
      volume.projectedValue.onChange { heard.changes.append("\($0) \($1)") },
      volume.projectedValue.onChange { old, new in
        MainActor.assertIsolated()
        again.changes.append("\(old) \(new)")
      },
      store.onChange(of: \.nickname) { heard.changes.append("\($0 ?? "nobody") \($1 ?? "nobody")") },
    ]
    await Task.detached {
      store[\.volume] = 0.5
      store.set(0.25, forKey: "volume")
      store[\.nickname] = "ada"
      store.removeObject(forKey: "volume")
    }.value
    try await waitAside(for: "four and three changes") { heard.changes.count >= 4 && again.changes.count >= 3 }
    #expect(heard.changes == ["0.8 0.5", "0.5 0.25", "nobody ada", "0.25 0.8"])
    #expect(again.changes == ["0.8 0.5", "0.5 0.25", "0.25 0.8"])
    // A change that is not delivered yet when its observation is cancelled is dropped.
    store[\.volume] = 0.1
    for observation in observations { observation?.cancel() }
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    #expect(heard.changes.count == 4)
    #expect(Binding.constant(1).onChange { _, _ in } == nil)
  }

  @Test("a key that was renamed keeps its value, once")
  func renamed() throws {
    let store = try StoreFixture().standard
    store.set("red", forKey: "colour")
    #expect(try store.migrate([.rename("colour", to: "color")]) == ["colour"])
    #expect(store.string(forKey: "color") == "red")
    #expect(store.object(forKey: "colour") == nil)
    #expect(try store.migrate([.rename("colour", to: "color")]) == [])
    // An older version has run again.
    store.set("blue", forKey: "colour")
    #expect(try store.migrate([.rename("colour", to: "color")]) == [])
    #expect(store.string(forKey: "color") == "red")
    #expect(store.string(forKey: "colour") == "blue")
  }

  @Test("a value of another type is converted once, under its key or another; other values stay")
  func converted() throws {
    let store = try StoreFixture().standard
    store.set(50, forKey: "volume")
    let percent = SettingMigration.convert("volume", from: Int.self, to: \.volume) { Double($0) / 100 }
    #expect(try store.migrate([percent]) == ["volume"])
    #expect(store[\.volume] == 0.5)
    store[\.volume] = 1
    #expect(try store.migrate([percent]) == [])
    #expect(store[\.volume] == 1)
    store.set("full", forKey: "volume")
    #expect(try store.migrate([percent]) == [])
    #expect(store.string(forKey: "volume") == "full")
    store.set("a,b", forKey: "list")
    let split = SettingMigration.convert("list", from: String.self, to: \.recent) { $0.split(separator: ",").map(String.init) }
    #expect(try store.migrate([split, .rename("recent", to: "latest")]) == ["list", "recent"])
    #expect(store.stringArray(forKey: "latest") == ["a", "b"])
    #expect(store.object(forKey: "list") == nil)
    #expect(store.object(forKey: "recent") == nil)
    let none = SettingMigration.convert("latest", from: [String].self, to: \.nickname) { _ in nil }
    #expect(try store.migrate([none]) == [])
    #expect(store.stringArray(forKey: "latest") == ["a", "b"])
  }

  @Test("a conversion may ask the store, and sees its last state")
  func convertedByAskingTheStore() throws {
    let store = try StoreFixture().standard
    store.set(5, forKey: "volume")
    store.set(10, forKey: "most")
    let asked = Recorder<Int>()
    let share = SettingMigration.convert("volume", from: Int.self, to: \.volume) { value in
      asked.add(value)
      // The value changes during the conversion.
      if asked.all.count == 1 { store.set(6, forKey: "volume") }
      return Double(value) / store.double(forKey: "most")
    }
    #expect(try store.migrate([share]) == ["volume"])
    #expect(store[\.volume] == 0.6)
    #expect(asked.all == [5, 6])
  }

  @Test("a migration looks at the program's own values alone, and is one change")
  func migratedAtOnce() throws {
    let store = try StoreFixture().standard
    store.register(defaults: ["colour": "registered"])
    #expect(try store.migrate([.rename("colour", to: "color")]) == [])
    store.set(1, forKey: "a")
    store.set(2, forKey: "b")
    let notifications = Notifications(of: store)
    try store.migrate([.rename("a", to: "c"), .rename("b", to: "d")])
    #expect(notifications.count == 1)
  }

  @Test("of programs that seed at the same time, one has seeded, and its value stays")
  func seededTogether() throws {
    let fixture = try StoreFixture()
    let stores = try (0..<4).map { _ in UserDefaults(try StoreFixture(root: fixture.root).lists, try fixture.name) }
    for round in 0..<200 {
      let seeded = Recorder<Int>()
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        if (try? stores[thread].seed(["key \(round)": thread])) == ["key \(round)"] { seeded.add(thread) }
      }
      #expect(seeded.all == [stores[0].integer(forKey: "key \(round)")])
    }
  }

  @Test("programs that migrate at the same time lose no value")
  func migratedTogether() throws {
    let fixture = try StoreFixture()
    for round in 0..<20 {
      let stores = try (0..<4).map { _ in UserDefaults(try StoreFixture(root: fixture.root).lists, try fixture.name) }
      stores[0].set(round, forKey: "old \(round)")
      let done = Recorder<String>()
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for key in (try? stores[thread].migrate([.rename("old \(round)", to: "new \(round)")])) ?? [] { done.add(key) }
        stores[thread].set(100 + round, forKey: "new \(round)")
      }
      #expect(done.all.count == 1)
      #expect(stores[0].integer(forKey: "new \(round)") == 100 + round)
    }
  }
}
