import CofferPreferences
import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

final class NotAPropertyList: NSObject {}

@Suite struct RefusalTests {
  @Test("a value that is not a property list is refused with Apple's text")
  func errors() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    defaults.set("before", forKey: "hoge")
    let url = try #require(URL(string: "https://h.example"))
    let values: [Any] = [
      NotAPropertyList(), NSNull(), UUID(), Set([1]), NSSet(), Optional<Int>.none as Any, [NSNull()], ["k": UUID()], [1: "a"],
      [[url]], [Optional<String>.none as Any], (1, 2), 1...2,
    ]
    for value in values {
      do {
        try defaults.store(value, forKey: "hoge")
        Issue.record("\(value) was stored")
      } catch {
        #expect(error.code == .notAPropertyList)
        #expect(error.detail == "Attempt to insert non-property list object \(value) for key hoge")
      }
    }
    #expect(defaults.string(forKey: "hoge") == "before")
    try defaults.store("after", forKey: "hoge")
    #expect(defaults.string(forKey: "hoge") == "after")
    try defaults.store(nil, forKey: "hoge")
    #expect(defaults.object(forKey: "hoge") == nil)
  }

  @Test("set ends the program with Apple's text, and nothing is stored")
  func trap() async throws {
    let fixture = try StoreFixture()
    let path = fixture.root.path
    try fixture.standard.set("before", forKey: "hoge")
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [path = path as String] in
      let fixture = try StoreFixture(root: URL(fileURLWithPath: path))
      try fixture.standard.set(NotAPropertyList(), forKey: "hoge")
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("NSInvalidArgumentException"))
    #expect(text.contains("Attempt to insert non-property list object <"))
    #expect(text.contains("> for key hoge"))
    #expect(try fixture.standard.string(forKey: "hoge") == "before")
  }

  @Test func registeringSomethingElseEndsTheProgram() async {
    await #expect(processExitsWith: .failure) {
      try StoreFixture().standard.register(defaults: ["k": NSNull()])
    }
    await #expect(processExitsWith: .failure) {
      try StoreFixture().standard.setPersistentDomain(["k": UUID()], forName: "com.example.other")
    }
    await #expect(processExitsWith: .failure) {
      try StoreFixture().standard.setVolatileDomain(["k": Set([1])], forName: "v")
    }
  }

  @Test("too large values are refused, and the key is named")
  func limits() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    #expect(throws: PreferenceError(.valueTooLarge)) { try defaults.store(Data(count: (1 << 20) + 1), forKey: "large") }
    defaults.set(Data(count: 2 << 20), forKey: "large")
    #expect(defaults.object(forKey: "large") == nil)
    #expect(throws: PreferenceError(.keyTooLong)) { try defaults.store(1, forKey: String(repeating: "k", count: 5000)) }
    var deep: [Any] = [1]
    for _ in 0..<600 { deep = [deep] }
    #expect(throws: PreferenceError(.valueTooDeep)) { try defaults.store(deep, forKey: "deep") }
  }

  @Test("an object that is in itself is too deep, as is one with too many levels")
  func cycles() throws {
    let defaults = try StoreFixture().standard
    let array = NSMutableArray()
    array.add(1)
    array.add(array)
    let dictionary = NSMutableDictionary()
    dictionary["k"] = dictionary
    let first = NSMutableArray()
    let second = NSMutableDictionary()
    first.add(second)
    second["first"] = first
    var chain = NSArray()
    for _ in 0..<2000 { chain = NSArray(objects: chain) }
    for value in [array, dictionary, first, second, chain, [[array]], ["k": dictionary]] as [Any] {
      #expect(throws: PreferenceError(.valueTooDeep)) { try defaults.store(value, forKey: "k") }
      #expect(defaults.object(forKey: "k") == nil)
    }
    // Break the cycles, which would otherwise keep the objects alive.
    array.removeAllObjects()
    dictionary.removeAllObjects()
    first.removeAllObjects()
  }

  @Test func theDeepestObjectIsStored() throws {
    let defaults = try StoreFixture().standard
    // The value itself is not a level.
    var deepest = NSArray(array: [1])
    for _ in 1..<PropertyList.maximumDepth { deepest = NSArray(objects: deepest) }
    try defaults.store(deepest, forKey: "deepest")
    #expect(defaults.array(forKey: "deepest") != nil)
    #expect(throws: PreferenceError(.valueTooDeep)) { try defaults.store(NSArray(objects: deepest), forKey: "deeper") }
    // Several references to one object do not add levels.
    var shared = NSArray(array: [1])
    for _ in 0..<8 { shared = NSArray(objects: shared, shared) }
    try defaults.store(shared, forKey: "shared")
    #expect(defaults.array(forKey: "shared")?.count == 2)
  }

  @Test("a domain that becomes large is said to be so, once")
  func sizeLimit() throws {
    let fixture = try StoreFixture()
    let suite = try #require(try fixture.suite("com.example.large"))
    let notifications = Notifications(of: nil, UserDefaults.sizeLimitExceededNotification)
    suite.set(Data(count: 300_000), forKey: "a")
    #expect(notifications.count == 0)
    suite.set(Data(count: 300_000), forKey: "b")
    #expect(eventually { notifications.count == 1 })
    suite.set(Data(count: 300_000), forKey: "c")
    #expect(!eventually(within: 0.2) { notifications.count > 1 })
  }

  @Test("synchronize is false when the disk refuses, and the program goes on")
  func synchronize() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    defaults.set(1, forKey: "k")
    #expect(defaults.synchronize())
    let refusing = try StoreFixture { try Data().write(to: $0.root.appending(path: "Preferences")) }
    let kept = try refusing.standard
    kept.set("in memory", forKey: "k")
    #expect(kept.string(forKey: "k") == "in memory")
    #expect(kept.synchronize() == false)
    #expect(throws: PreferenceError.self) { try kept.store(1, forKey: "k") }
  }

  @Test("a program whose files are deleted meanwhile goes on, and writes new ones")
  func deleted() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    defaults.register(defaults: ["k": "default", "other": "default"])
    defaults.set("own", forKey: "k")
    #expect(defaults.synchronize())
    // The program may make a file in a directory whose files are removed one by one.
    while FileManager.default.fileExists(atPath: fixture.root.path) { try? FileManager.default.removeItem(at: fixture.root) }
    #expect(defaults.string(forKey: "other") == "default")
    defaults.set("new", forKey: "k")
    #expect(defaults.string(forKey: "k") == "new")
    #expect(defaults.synchronize())
    // As read by another process.
    let directory = PreferenceDirectory(fixture.root.appending(path: "Preferences").path)
    #expect(FileDomain(try fixture.name, in: directory).value(forKey: "k") == .string("new"))
  }
}
