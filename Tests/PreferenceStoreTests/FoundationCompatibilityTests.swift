import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

/// The test cases of swift-corelibs-foundation for its class, applied to this one: each value is registered, then set.
@Suite struct FoundationCompatibilityTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let value: @Sendable () -> Any
    let holds: @Sendable (UserDefaults) -> Bool

    init(_ name: String, _ value: @autoclosure @escaping @Sendable () -> Any, _ holds: @escaping @Sendable (UserDefaults) -> Bool)
    {
      testDescription = name
      self.value = value
      self.holds = holds
    }
  }

  static let cases: [Case] = [
    Case("NSNumber", NSNumber(value: 5)) { $0.integer(forKey: "key1") == 5 },
    Case("NSString", "hello" as NSString) { $0.string(forKey: "key1") == "hello" },
    Case("String", "hello") { $0.string(forKey: "key1") == "hello" },
    Case("NSURL", NSURL(fileURLWithPath: "/hello/world")) { $0.url(forKey: "key1") == URL(fileURLWithPath: "/hello/world") },
    Case("URL", URL(fileURLWithPath: "/hello/world")) { $0.url(forKey: "key1") == URL(fileURLWithPath: "/hello/world") },
    Case("NSData", unsafe NSData(bytes: [0, 1, 2, 3, 4] as [UInt8], length: 5)) {
      $0.data(forKey: "key1") == Data([0, 1, 2, 3, 4])
    },
    Case("Data", Data([0, 1, 2, 3, 4])) { $0.data(forKey: "key1") == Data([0, 1, 2, 3, 4]) },
    Case("bool of a String", "YES") { $0.bool(forKey: "key1") },
    Case("integer of a String", "1234") { $0.integer(forKey: "key1") == 1234 },
    Case("double of a String", "12.34") { $0.double(forKey: "key1") == 12.34 },
    Case("float of a String", "1234") { $0.float(forKey: "key1") == 1234 },
    Case("integer of a Bool", true) { $0.integer(forKey: "key1") == 1 },
    Case("integer of a Float", 12.34 as Float) { $0.integer(forKey: "key1") == 12 },
    Case("integer of a Double", 12.34) { $0.integer(forKey: "key1") == 12 },
    Case("float of a Bool", true) { $0.float(forKey: "key1") == 1 },
    Case("float of an Int", 42) { $0.float(forKey: "key1") == 42 },
    Case("float of a Double", 12.34) { $0.float(forKey: "key1") == 12.34 },
    Case("double of a Bool", true) { $0.double(forKey: "key1") == 1 },
    Case("double of an Int", 42) { $0.double(forKey: "key1") == 42 },
    Case("double of a Float", 12.34 as Float) { $0.double(forKey: "key1") == Double(12.34 as Float) },
    Case("string of a Bool", true) { $0.string(forKey: "key1") == "1" },
    Case("string of an Int", 42) { $0.string(forKey: "key1") == "42" },
    Case("string of a Float", 12.34 as Float) { $0.string(forKey: "key1") == "12.34" },
    Case("string of a Double", 12.34) { $0.string(forKey: "key1") == "12.34" },
  ]

  @Test("values are read as Foundation's tests want them", arguments: cases) func values(item: Case) throws {
    let defaults = try StoreFixture().standard
    defaults.register(defaults: ["key1": item.value()])
    defaults.removeObject(forKey: "key1")
    #expect(item.holds(defaults), "registered")
    defaults.set(item.value(), forKey: "key1")
    defaults.register(defaults: ["key1": Data([255])])
    #expect(item.holds(defaults), "set")
  }

  @Test("the overloads of set store the same as Foundation's") func overloads() throws {
    let defaults = try StoreFixture().standard
    defaults.set(12.34 as Float, forKey: "float")
    defaults.set(12.34, forKey: "double")
    defaults.set(42, forKey: "int")
    defaults.set(true, forKey: "bool")
    #expect(defaults.string(forKey: "float") == "12.34")
    #expect(defaults.double(forKey: "float") == Double(12.34 as Float))
    #expect(defaults.integer(forKey: "double") == 12)
    #expect(defaults.float(forKey: "int") == 42)
    #expect(defaults.string(forKey: "bool") == "1")
  }

  @Test("a volatile domain comes back as it was set") func volatileDomains() throws {
    let date = Date()
    let values: [String: Any] = [
      "A Date": date, "A String": "The String", "An Array": [1, 2, 3],
      "A Dictionary": ["Swift": "Imperative", "Haskell": "Functional", "Today": date] as [String: Any],
      "Some Data": Data("The Data".utf8),
      "A Bool": true,
    ]
    let defaults = try #require(try StoreFixture().suite(nil))
    #expect(!defaults.volatileDomainNames.contains("TestDomain"))
    defaults.setVolatileDomain(values, forName: "TestDomain")
    let read = defaults.volatileDomain(forName: "TestDomain")
    #expect(read.count == values.count)
    #expect(read["A Date"] as? Date == date)
    #expect(read["A String"] as? String == "The String")
    #expect(read["An Array"] as? [Int] == [1, 2, 3])
    #expect(
      read["A Dictionary"] as? [String: AnyHashable] == ["Swift": "Imperative", "Haskell": "Functional", "Today": date])
    #expect(read["Some Data"] as? Data == Data("The Data".utf8))
    #expect(read["A Bool"] as? Bool == true)
  }

  @Test("a persistent domain comes back, with three notifications") func persistentDomain() throws {
    let fixture = try StoreFixture()
    let first = try #require(try fixture.suite(nil))
    let notifications = Notifications(of: first)
    let name = "org.swift.Foundation.TestPersistentDomainName"
    let array: [AnyHashable] = [1, 2, 3, 4, "Surprise"]
    let dictionary: [String: AnyHashable] = ["Swift": "Imperative", "Today": Date()]
    first.removePersistentDomain(forName: name)
    #expect(first.persistentDomain(forName: name)?.isEmpty ?? true)
    first.setPersistentDomain(
      ["An Integer": 1234, "A Double": 5678.1234, "A String": "Some string", "An Array": array, "A Dictionary": dictionary],
      forName: name)
    let second = try #require(try fixture.suite(nil))
    let read = try #require(second.persistentDomain(forName: name))
    #expect(read.count == 5)
    #expect(read["An Integer"] as? Int == 1234)
    #expect(read["A Double"] as? Double == 5678.1234)
    #expect(read["A String"] as? String == "Some string")
    #expect(read["An Array"] as? [AnyHashable] == array)
    #expect(read["A Dictionary"] as? [String: AnyHashable] == dictionary)
    first.removePersistentDomain(forName: name)
    #expect(second.persistentDomain(forName: name)?.isEmpty ?? true)
    #expect(notifications.count == 3)
  }

  /// Programs subclass the store, mostly for tests.
  final class Recording: UserDefaults, @unchecked Sendable {
    let keys = Recorder<String>()
    override func set(_ value: Any?, forKey defaultName: String) {
      keys.add(defaultName)
      super.set(value, forKey: defaultName)
    }
    override func object(forKey defaultName: String) -> Any? { "always" }
  }

  @Test("a subclass overrides the same methods as with Foundation") func subclass() throws {
    let fixture = try StoreFixture()
    let store = Recording(fixture.lists, try fixture.name)
    store.set("x" as Any, forKey: "k")
    #expect(store.keys.all == ["k"])
    #expect(store.object(forKey: "k") as? String == "always")
    #expect(store.string(forKey: "k") == "always")
    let object: NSObject = store
    #expect(object is UserDefaults)
  }
}
