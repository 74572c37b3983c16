import CofferPropertyLists
import Foundation
import Observation
import PreferenceStore
import Synchronization
import Testing

import class PreferenceStore.UserDefaults

@Suite struct SettingObservationTests {
  private struct Person: Sendable {
    let name: AppStorage<String>
    let age: AppStorage<Int>

    init(_ store: UserDefaults) {
      name = AppStorage(wrappedValue: "fatbobman", "name", store: store)
      age = AppStorage(wrappedValue: 12, "age", store: store)
    }
  }

  @Test("a reader of one key is not notified of another")
  func preciseByKey() throws {
    let store = try StoreFixture().standard
    let person = Person(store)
    let (names, ages) = (Screen { _ = person.name.wrappedValue }, Screen { _ = person.age.wrappedValue })
    for age in 13...22 { #expect(ages.invalidations { person.age.wrappedValue = age } == 1) }
    #expect(names.invalidations == 0)
    store.setPersistentDomain(["age": 1, "other": 2], forName: StoreFixture.name)
    #expect(names.invalidations == 0)
    #expect(ages.invalidations == 11)
  }

  @Test("another process's change invalidates the readers of its key once")
  func otherProcess() throws {
    let fixture = try StoreFixture()
    let person = Person(try fixture.standard)
    let (names, ages) = (Screen { _ = person.name.wrappedValue }, Screen { _ = person.age.wrappedValue })
    // Two search lists with the same files behave as two processes.
    let other = UserDefaults(try StoreFixture(root: fixture.root).lists, try fixture.name)
    other.set("Ada", forKey: "name")
    #expect(eventually { names.invalidations == 1 })
    #expect(person.name.wrappedValue == "Ada")
    #expect(ages.invalidations == 0)
  }

  @Test("a notified reader reads the old value, and the new one afterwards")
  func before() throws {
    let store = try StoreFixture().standard
    let storage = AppStorage(wrappedValue: 1, "n", store: store)
    let seen = Recorder<Int>()
    func follow() {
      withObservationTracking {
        _ = storage.wrappedValue
      } onChange: {
        seen.add(storage.wrappedValue)
      }
    }
    follow()
    storage.wrappedValue = 2
    #expect(storage.wrappedValue == 2)
    follow()
    store.set(3, forKey: "n")
    #expect(storage.wrappedValue == 3)
    follow()
    store.register(defaults: ["n": 4])
    store.removeObject(forKey: "n")
    #expect(storage.wrappedValue == 4)
    #expect(seen.all == [1, 2, 3])
  }

  @Test("another thread reads the new value while the change is told")
  func beforeOnOtherThreads() throws {
    let store = try StoreFixture().standard
    let storage = AppStorage(wrappedValue: 1, "n", store: store)
    let seen = Recorder<Int>()
    withObservationTracking {
      _ = storage.wrappedValue
    } onChange: {
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        seen.add(storage.wrappedValue)
        done.signal()
      }
      done.wait()
    }
    store.set(2, forKey: "n")
    #expect(seen.all == [2])
  }

  @Test("an observer that sets the value reads its own value")
  func settingWhileTold() throws {
    let store = try StoreFixture().standard
    let storage = AppStorage(wrappedValue: 1, "n", store: store)
    let seen = Recorder<Int>()
    withObservationTracking {
      _ = storage.wrappedValue
    } onChange: {
      storage.wrappedValue = 10
      seen.add(storage.wrappedValue)
    }
    store.set(2, forKey: "n")
    #expect(seen.all == [10])
    #expect(store.integer(forKey: "n") == 10)
  }

  @Test("an observer that sets the value that is coming reads that one too")
  func settingTheKeyDuringItsDelivery() throws {
    let store = try StoreFixture().standard
    let storage = AppStorage(wrappedValue: 1, "n", store: store)
    let seen = Recorder<Int>()
    withObservationTracking {
      _ = storage.wrappedValue
    } onChange: {
      storage.wrappedValue = 2
      seen.add(storage.wrappedValue)
    }
    store.set(2, forKey: "n")
    #expect(seen.all == [2])
  }

  @Test("observers that set values, this one and others, come to an end")
  func noDeadlock() throws {
    let store = try StoreFixture().standard
    let first = AppStorage(wrappedValue: 0, "first", store: store)
    let second = AppStorage(wrappedValue: 0, "second", store: store)
    let observations = [
      store.observe("first") { _ in second.wrappedValue = min(first.wrappedValue, 20) },
      store.observe("second") { _ in first.wrappedValue = min(second.wrappedValue + 1, 20) },
    ]
    first.wrappedValue = 1
    #expect(eventually { first.wrappedValue == 20 && second.wrappedValue == 20 })
    withExtendedLifetime(observations) {}
  }

  @Test("a reader that reads again before the value is written is notified again")
  func readAgainTooEarly() throws {
    let store = try StoreFixture().standard
    let storage = AppStorage(wrappedValue: 1, "n", store: store)
    let told = Recorder<String>()
    @Sendable func follow(_ name: String, _ next: String?) {
      let value = withObservationTracking {
        storage.wrappedValue
      } onChange: {
        told.add("\(name) is told")
        if let next { follow(next, nil) }
      }
      told.add("\(name) reads \(value)")
    }
    follow("first", "second")
    storage.wrappedValue = 2
    #expect(told.all == ["first reads 1", "first is told", "second reads 1", "second is told"])
  }

  @Test("a reader need not retain the wrapper")
  func shortLived() throws {
    let store = try StoreFixture().standard
    let screen = Screen { _ = AppStorage(wrappedValue: 1, "n", store: store).wrappedValue }
    #expect(screen.invalidations { store.set(2, forKey: "n") } == 1)
    #expect(screen.invalidations { store.set(3, forKey: "n") } == 1)
  }

  @Test("a change during a read through a deallocated wrapper does not end later notifications")
  func changedWhileRead() throws {
    let store = try StoreFixture().standard
    let told = Recorder<Int>()
    withObservationTracking {
      _ = AppStorage(wrappedValue: 1, "n", store: store).wrappedValue
      for value in 2...5 { store.set(value, forKey: "n") }
    } onChange: {
      told.add(store.integer(forKey: "n"))
    }
    store.set(6, forKey: "n")
    #expect(told.all == [6])
  }

  @Test("a store that was made for the wrapper alone need not be kept either")
  func shortLivedStore() throws {
    let fixture = try StoreFixture()
    // As in `@AppStorage("n", store: UserDefaults(suiteName: …))`.
    let screen = Screen { _ = AppStorage(wrappedValue: 1, "n", store: try? fixture.suite("com.example.suite")).wrappedValue }
    // More lists than `SearchLists` keeps for later requests.
    for number in 0..<20 { _ = try fixture.suite("com.example.suite\(number)") }
    let other = try #require(try fixture.suite("com.example.suite"))
    #expect(screen.invalidations { other.set(2, forKey: "n") } == 1)
    #expect(screen.invalidations { other.set(3, forKey: "n") } == 1)
  }

  @Test("stores of one domain announce a change of theirs to each other's objects once, before it")
  func oneDomain() throws {
    let fixture = try StoreFixture()
    let stores = try (0..<2).map { _ in try #require(try fixture.suite("com.example.suite")) }
    let storages = stores.map { AppStorage(wrappedValue: 1, "n", store: $0) }
    let seen = Recorder<Int>()
    let screens = storages.map { storage in
      Screen {
        _ = storage.wrappedValue
        seen.add(storage.wrappedValue)
      }
    }
    #expect(screens[1].invalidations { storages[0].wrappedValue = 2 } == 1)
    #expect(screens[0].invalidations == 1)
    withExtendedLifetime((storages, screens)) { #expect(stores[0].observedKeyCount == 1) }
    #expect(seen.all == [1, 1, 2])
  }

  @Test("unused keys are released, and readers share one")
  func noLeakOfKeys() throws {
    let store = try StoreFixture().standard
    do {
      let storages = (0..<100).map { AppStorage(wrappedValue: 0, "key \($0 % 10)", store: store) }
      for storage in storages { _ = storage.wrappedValue }
      withExtendedLifetime(storages) { #expect(store.observedKeyCount == 10) }
    }
    // The keys were read without tracking.
    #expect(store.observedKeyCount == 0)
    let screens = (0..<20).map { number in
      Screen { _ = AppStorage(wrappedValue: 0, "key \(number % 10)", store: store).wrappedValue }
    }
    #expect(store.observedKeyCount == 10)
    for number in 0..<10 { store.set(1, forKey: "key \(number)") }
    #expect(screens.allSatisfy { $0.invalidations == 1 })
    #expect(store.observedKeyCount == 0)
    do {
      let written = AppStorage(wrappedValue: 0, "written", store: store)
      written.wrappedValue = 1
      withExtendedLifetime(written) { #expect(store.observedKeyCount == 1) }
    }
    #expect(store.observedKeyCount == 0)
  }

  @Test("keys whose tracking ended by the change of another key do not accumulate")
  func noPileOfKeys() throws {
    let store = try StoreFixture().standard
    let number = Mutex(0)
    let screen = Screen {
      _ = AppStorage(wrappedValue: 0, "shown", store: store).wrappedValue
      _ = AppStorage(wrappedValue: 0, "page \(number.withLock { $0 })", store: store).wrappedValue
    }
    for page in 1...500 {
      number.withLock { $0 = page }
      #expect(screen.invalidations { store.set(page, forKey: "shown") } == 1)
    }
    #expect(store.observedKeyCount < 100)
    #expect(screen.invalidations { store.set(1, forKey: "page 500") } == 1)
  }

  @Test("stores, wrappers' owners and values are not retained")
  func noCycles() throws {
    final class Model: Sendable {
      let storage: AppStorage<Int>
      init(_ store: UserDefaults) { storage = AppStorage(wrappedValue: 1, "n", store: store) }
    }
    let fixture = try StoreFixture()
    weak var weakStore: UserDefaults?
    weak var weakModel: Model?
    do {
      let store = try fixture.standard
      let model = Model(store)
      (weakStore, weakModel) = (store, model)
      let screen = Screen { [weak model] in _ = model?.storage.wrappedValue }
      #expect(screen.invalidations { model.storage.wrappedValue = 2 } == 1)
      let binding = model.storage.projectedValue
      binding.wrappedValue = 3
      let observation = binding.onChange { _, _ in }
      #expect(observation != nil)
    }
    #expect(weakModel == nil)
    #expect(weakStore == nil)
  }

  @Test("threads that set, read and observe lose nothing")
  func threads() throws {
    let store = try StoreFixture().standard
    let storages = (0..<4).map { AppStorage(wrappedValue: 0, "key \($0)", store: store) }
    let screens = storages.map { storage in Screen { _ = storage.wrappedValue } }
    let brief = (0..<4).map { number in
      Screen { _ = AppStorage(wrappedValue: 0, "key \(number)", store: store).wrappedValue }
    }
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 1...50 {
        let storage = storages[thread % 4]
        if thread < 4 { storage.wrappedValue = round } else { _ = storage.wrappedValue }
        screens[(thread + round) % 4].draw()
        brief[(thread + round) % 4].draw()
        _ = AppStorage(wrappedValue: 0, "key \(round % 4)", store: store).wrappedValue
      }
    }
    #expect(storages.map(\.wrappedValue) == [50, 50, 50, 50])
    for (screen, storage) in zip(screens, storages) {
      screen.draw()
      #expect(screen.invalidations { storage.wrappedValue = 51 } >= 1)
    }
    for (number, screen) in brief.enumerated() {
      screen.draw()
      #expect(screen.invalidations { store.set(52, forKey: "key \(number)") } >= 1)
    }
  }
}
