#if Combine
import CofferPreferences
import Foundation
import PreferenceStoreCombine
import Synchronization
import Testing

import class PreferenceStore.UserDefaults

/// A store with its own files.
final class Settings {
  let root: URL
  let isOwner: Bool

  init(_ root: URL? = nil) throws {
    isOwner = root == nil
    self.root = root ?? FileManager.default.temporaryDirectory.appending(path: "coffer-combine-\(UUID())")
    try FileManager.default.createDirectory(at: self.root, withIntermediateDirectories: true)
    ChangeWatch.start()
  }

  deinit { if isOwner { try? FileManager.default.removeItem(at: root) } }

  var store: UserDefaults {
    get throws {
      let lists = SearchLists(
        places: SearchPlaces(user: root.path, managed: "\(root.path)/managed", anyUser: "\(root.path)/any"),
        volatileDomains: VolatileDomains(arguments: []), source: FileDomainSource())
      return UserDefaults(lists, try DomainName("com.example.app"))
    }
  }
}

final class Heard: Sendable {
  private let state = Mutex<[String]>([])
  func add(_ text: String) { state.withLock { $0.append(text) } }
  var all: [String] { state.withLock { $0 } }
}

@Suite struct ObservableObjectTests {
  private class Person: ObservableObject {
    @AppStorage("name") var name = "fatbobman"
    @AppStorage("age") var age = 12
  }

  private final class Employee: Person {
    @Published var isBusy = false
    @AppStorage("title") var title: String?
  }

  private func with(_ body: (UserDefaults, Settings) throws -> Void) throws {
    let settings = try Settings()
    let store = try settings.store
    try UserDefaults.withDefaultAppStorage(store) { try body(store, settings) }
  }

  @Test("one event for each change, before it")
  func oneEvent() throws {
    try with { store, _ in
      let person = Person()
      let heard = Heard()
      let subscription = person.objectWillChange.sink { heard.add("\(person.name) \(person.age)") }
      person.name = "Ada"
      person.age = 36
      person.age = 36
      store.set("Grace", forKey: "name")
      store.register(defaults: ["age": 1])
      store.removeObject(forKey: "age")
      #expect(heard.all == ["fatbobman 12", "Ada 12", "Ada 36", "Grace 36"])
      #expect(person.name == "Grace" && person.age == 1)
      subscription.cancel()
      person.name = "nobody hears"
      #expect(heard.all.count == 4)
    }
  }

  @Test("a change of another process is one event too")
  func otherProcess() throws {
    try with { _, settings in
      let person = Person()
      let heard = Heard()
      // No property was read yet.
      let subscription = person.objectWillChange.sink { heard.add(person.name) }
      try settings.store.set("x", forKey: "other")
      try Settings(settings.root).store.set("Ada", forKey: "name")
      let end = Date(timeIntervalSinceNow: 300)
      while heard.all.isEmpty, Date() < end { usleep(1000) }
      #expect(heard.all == ["fatbobman"])
      while person.name != "Ada", Date() < end { usleep(1000) }
      #expect(person.name == "Ada")
      subscription.cancel()
    }
  }

  @Test("published properties and those of a superclass fire with the others")
  func inheritance() throws {
    try with { _, _ in
      let employee = Employee()
      let heard = Heard()
      #expect(employee.objectWillChange === employee.objectWillChange)
      let subscription = employee.objectWillChange.sink {
        heard.add("\(employee.name) \(employee.isBusy) \(employee.title ?? "-")")
      }
      employee.isBusy = true
      employee.title = "Dr."
      employee.name = "Ada"
      #expect(heard.all == ["fatbobman false -", "fatbobman true -", "fatbobman true Dr."])
      subscription.cancel()
      let person = Person()
      #expect(person.objectWillChange === person.objectWillChange)
      #expect(person.objectWillChange !== Person().objectWillChange)
    }
  }

  @Test("a binding to a property sets it, and fires")
  func binding() throws {
    struct View {
      @ObservedObject var person: Person
    }
    try with { store, _ in
      let view = View(person: Person())
      let heard = Heard()
      let subscription = view.person.objectWillChange.sink { heard.add("will change") }
      view.person.$name.wrappedValue = "Ada"
      view.$person.age.wrappedValue = 36
      #expect(store.string(forKey: "name") == "Ada")
      #expect(view.person.age == 36)
      #expect(heard.all.count == 2)
      subscription.cancel()
    }
  }

  @Test("users of one property of an object hear of all others as well")
  func wholeObject() throws {
    try with { _, _ in
      let person = Person()
      let heard = Heard()
      // Displays the name only, and is refreshed by changes of the age.
      let subscription = person.objectWillChange.sink { heard.add(person.name) }
      for age in 13...22 { person.age = age }
      #expect(heard.all.count == 10)
      subscription.cancel()
    }
  }

  @Test("two properties of one key are one event")
  func oneKey() throws {
    final class Both: ObservableObject {
      @AppStorage("n") var first = 1
      @AppStorage("n") var second = 334
    }
    try with { _, _ in
      let both = Both()
      let heard = Heard()
      let subscription = both.objectWillChange.sink { heard.add("\(both.first) \(both.second)") }
      both.first += 1
      both.second += 1
      #expect(heard.all == ["1 334", "2 2"])
      #expect(both.first == 3 && both.second == 3)
      subscription.cancel()
    }
  }

  @Test("a change announced before another one was made is announced again")
  func changedBetween() throws {
    try with { store, _ in
      let person = Person()
      let heard = Heard()
      let subscription = person.objectWillChange.sink {
        heard.add("\(person.age)")
        // The observer changes the value before the announced change is made. Readers that read again have seen 7.
        if heard.all.count == 1 { store.set(7, forKey: "age") }
      }
      person.age = 5
      #expect(heard.all == ["12", "12", "7"])
      #expect(person.age == 5)
      subscription.cancel()
    }
  }

  @Test("an observer that sets another property causes no deadlock, and the object is not retained")
  func noCycle() throws {
    try with { store, _ in
      weak var weakPerson: Person?
      do {
        let person = Person()
        weakPerson = person
        let heard = Heard()
        let subscription = person.objectWillChange.sink { [weak person] in
          heard.add(person?.name ?? "")
          if heard.all.count == 1 { person?.age = 13 }
        }
        person.name = "Ada"
        #expect(person.age == 13)
        #expect(heard.all.count == 2)
        subscription.cancel()
      }
      #expect(weakPerson == nil)
      store.set("later", forKey: "name")
      store.set(1, forKey: "age")
      #expect(store.observedKeyCount == 0)
    }
  }
}
#endif
