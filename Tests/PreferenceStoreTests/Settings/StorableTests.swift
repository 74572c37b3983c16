import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

@Suite struct StorableTests {
  private static func roundTrip<Value: Storable & Equatable>(_ value: Value, _ other: Value) throws {
    let fixture = try StoreFixture()
    let store = try fixture.standard
    let storage = AppStorage(wrappedValue: other, "k", store: store)
    #expect(storage.wrappedValue == other)
    storage.wrappedValue = value
    #expect(storage.wrappedValue == value)
    let optional = AppStorage<Value?>("k", store: store)
    #expect(optional.wrappedValue == value)
    // Another store with the same files.
    let again = UserDefaults(try StoreFixture(root: fixture.root).lists, try fixture.name)
    #expect(AppStorage(wrappedValue: other, "k", store: again).wrappedValue == value)
    optional.wrappedValue = nil
    #expect(store.object(forKey: "k") == nil)
    #expect(optional.wrappedValue == nil)
    #expect(storage.wrappedValue == other)
  }

  private enum Theme: String, Storable { case light, dark }
  private enum Level: Int, Codable, Storable { case low, high }
  private struct Counts: Codable, Storable { var lists: [[String: Int]] }
  private struct Window: Codable, Storable, Equatable {
    var title: String?
    var width = 80
    var opened: Date?
    var levels: [Level] = []
  }

  @Test("Bool, Int, Double, String, URL, Data and Date, and each as an Optional")
  func types() throws {
    try Self.roundTrip(true, false)
    try Self.roundTrip(Int.min, 0)
    try Self.roundTrip(0.1, 0)
    try Self.roundTrip("Ada", "")
    try Self.roundTrip(try #require(URL(string: "https://example.org/a?b#c")), URL(filePath: "/"))
    try Self.roundTrip(URL(filePath: "/tmp/a file"), URL(filePath: "/"))
    try Self.roundTrip(Data([0, 255]), Data())
    try Self.roundTrip(Date(timeIntervalSinceReferenceDate: 0.75), .distantPast)
    try Self.roundTrip(Float(0.1), 0)
  }

  @Test("arrays, sets and dictionaries of them, enums, and Codable types")
  func compositeTypes() throws {
    try Self.roundTrip([3, 4, 5], [])
    try Self.roundTrip([["a": [true, false]]], [])
    try Self.roundTrip(Set(["b", "a", "c"]), [])
    try Self.roundTrip(["a": Date(timeIntervalSinceReferenceDate: 1), "b": .distantFuture], [:])
    try Self.roundTrip(Theme.dark, .light)
    try Self.roundTrip([Theme.dark], [])
    try Self.roundTrip(Level.high, .low)
    try Self.roundTrip(
      Window(title: "main", width: 1, opened: Date(timeIntervalSinceReferenceDate: 0.5), levels: [.high]), Window())
    try Self.roundTrip([Window(), Window(width: 2)], [])
  }

  @Test("stored values can be read by people and by defaults")
  func storedForms() throws {
    #expect(try Theme.dark.storedValue() == .string("dark"))
    #expect(try Level.high.storedValue() == .integer(1))
    #expect(try Set([3, 1, 2]).storedValue() == .array([.integer(1), .integer(2), .integer(3)]))
    guard case .dictionary(let window) = try Window(title: "main").storedValue() else { return #expect(Bool(false)) }
    #expect(window.sorted.map(\.key) == ["levels", "title", "width"])
    #expect(window["width"] == .integer(80))
  }

  @Test("numbers are converted if the conversion is exact")
  func numbers() {
    #expect([0, 1, 2].map { Bool(storedValue: .integer($0)) } == [false, true, nil])
    #expect(Bool(storedValue: .string("YES")) == nil)
    #expect(Int(storedValue: .real(2)) == 2)
    #expect(Int(storedValue: .real(2.5)) == nil)
    #expect(Int(storedValue: .unsigned(.max)) == nil)
    #expect(Double(storedValue: .integer(2)) == 2)
    #expect(Double(storedValue: .integer(.max)) == nil)
    #expect(Double(storedValue: .string("2")) == nil)
    #expect(Float(storedValue: .real(0.1)) == 0.1)
    #expect(String(storedValue: .integer(2)) == nil)
  }

  @Test("texts of the command line are read as numbers, others are not")
  func arguments() throws {
    let fixture = try StoreFixture(arguments: [
      "-flag", "YES", "-count", "12", "-ratio", "1.5", "-level", "1", "-theme", "dark", "-list", "(1, 2)", "-bad", "12 apples",
    ])
    let store = try fixture.standard
    #expect(AppStorage(wrappedValue: false, "flag", store: store).wrappedValue)
    #expect(AppStorage(wrappedValue: 0, "count", store: store).wrappedValue == 12)
    #expect(AppStorage(wrappedValue: 0.0, "ratio", store: store).wrappedValue == 1.5)
    #expect(AppStorage(wrappedValue: Level.low, "level", store: store).wrappedValue == .high)
    #expect(AppStorage(wrappedValue: Theme.light, "theme", store: store).wrappedValue == .dark)
    #expect(AppStorage(wrappedValue: [0], "list", store: store).wrappedValue == [1, 2])
    #expect(AppStorage(wrappedValue: 7, "bad", store: store).wrappedValue == 7)
    store.set("12", forKey: "stored")
    #expect(AppStorage(wrappedValue: 7, "stored", store: store).wrappedValue == 7)
  }

  @Test("an enum with Int or String as raw value, used directly")
  func enums() throws {
    enum Options: Int { case a, b, c, d }
    enum Names: String { case first, second }
    struct Settings {
      @AppStorage("options") var options: Options = .a
      @AppStorage("names") var names = Names.first
      @AppStorage("perhaps") var perhaps: Options?
      @AppStorage("named") var named: Names?
    }
    let store = try StoreFixture().standard
    UserDefaults.withDefaultAppStorage(store) {
      let settings = Settings()
      #expect(settings.options == .a)
      settings.options = .c
      settings.names = .second
      #expect(settings.options == .c && settings.names == .second)
      #expect(store.object(forKey: "options") as? Int == 2)
      #expect(store.object(forKey: "names") as? String == "second")
      #expect(settings.perhaps == nil && settings.named == nil)
      settings.perhaps = .d
      settings.named = .first
      #expect(settings.perhaps == .d && settings.named == .first)
      // A raw value without a case.
      store.set(99, forKey: "options")
      #expect(settings.options == .a)
      #expect(store.integer(forKey: "options") == 99)
    }
  }

  @Test("damaged values give the default and stay as they are")
  func damaged() throws {
    let store = try StoreFixture().standard
    let window = AppStorage(wrappedValue: Window(title: "default"), "window", store: store)
    store.set(["width": "wide"], forKey: "window")
    #expect(window.wrappedValue.title == "default")
    #expect(store.dictionary(forKey: "window") as? [String: String] == ["width": "wide"])
    let list = AppStorage(wrappedValue: [1], "list", store: store)
    store.set([1, "two"] as [Any], forKey: "list")
    #expect(list.wrappedValue == [1])
    #expect(store.array(forKey: "list")?.count == 2)
    let map = AppStorage(wrappedValue: ["a": 1], "map", store: store)
    store.set(["b": Date()], forKey: "map")
    #expect(map.wrappedValue == ["a": 1])
  }

  @Test("two keys that a Swift dictionary takes for one are not read as one, which would lose the other")
  func unicodeForms() {
    func counts(_ values: PropertyListDictionary) -> Counts? {
      var fields = PropertyListDictionary()
      fields["lists"] = .array([.dictionary(values)])
      return Counts(storedValue: .dictionary(fields))
    }
    var values = PropertyListDictionary()
    values["\u{FC}"] = .integer(1)
    #expect([String: Int](storedValue: .dictionary(values)) == ["\u{FC}": 1])
    #expect(counts(values) != nil)
    values["u\u{308}"] = .integer(2)
    #expect([String: Int](storedValue: .dictionary(values)) == nil)
    #expect(counts(values) == nil)
  }

  @Test("a value that cannot be encoded changes nothing")
  func notEncodable() throws {
    struct Refusing: Codable, Storable {
      var refuses = false
      func encode(to encoder: any Encoder) throws {
        if refuses { throw CocoaError(.coderInvalidValue) }
        var container = encoder.singleValueContainer()
        try container.encode("fine")
      }
      init(refuses: Bool) { self.refuses = refuses }
      init(from decoder: any Decoder) throws {}
    }
    let store = try StoreFixture().standard
    let storage = AppStorage(wrappedValue: Refusing(refuses: false), "k", store: store)
    storage.wrappedValue = Refusing(refuses: false)
    #expect(store.string(forKey: "k") == "fine")
    storage.wrappedValue = Refusing(refuses: true)
    #expect(store.string(forKey: "k") == "fine")
  }
}
