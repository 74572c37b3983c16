import CofferPreferences
import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

@Suite struct DomainTests {
  @Test("registering writes nothing")
  func registrationIsNotWritten() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    defaults.set(1, forKey: "own")
    defaults.register(defaults: ["registered": 1])
    #expect(defaults.synchronize())
    #expect(defaults.persistentDomain(forName: StoreFixture.name) as? [String: Int] == ["own": 1])
    let other = FileDomain(try DomainName(StoreFixture.name), in: PreferenceDirectory(fixture.lists.places.user))
    #expect(other.values().count == 1)
  }

  @Test("set hides a registered value, removing shows it again")
  func registeredAgain() throws {
    let defaults = try StoreFixture().standard
    defaults.register(defaults: ["name": "NoName"])
    #expect(defaults.string(forKey: "name") == "NoName")
    defaults.set("山田太郎", forKey: "name")
    #expect(defaults.string(forKey: "name") == "山田太郎")
    defaults.removeObject(forKey: "name")
    #expect(defaults.string(forKey: "name") == "NoName")
    defaults.set("山田太郎", forKey: "name")
    defaults.set(nil, forKey: "name")
    #expect(defaults.string(forKey: "name") == "NoName")
  }

  @Test("registered values are read by their domain, in all stores of the process")
  func registrationDomain() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    let suite = try #require(try fixture.suite("com.example.suite"))
    #expect(defaults.volatileDomain(forName: UserDefaults.registrationDomain).isEmpty)
    defaults.register(defaults: ["a": 1, "b": "x"])
    suite.register(defaults: ["b": "y"])
    let registered = defaults.volatileDomain(forName: UserDefaults.registrationDomain)
    #expect(registered.count == 2)
    #expect(registered["a"] as? Int == 1)
    #expect(registered["b"] as? String == "y")
    #expect(suite.integer(forKey: "a") == 1)
    #expect(defaults.string(forKey: "b") == "y")
  }

  @Test("seed stores values for keys without one, in one transaction")
  func seed() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    defaults.set("own", forKey: "b")
    defaults.register(defaults: ["c": 1])
    #expect(try defaults.seed(["a": 1, "b": "seed", "c": 2]) == ["a"])
    #expect(defaults.persistentDomain(forName: StoreFixture.name)?.keys.sorted() == ["a", "b"])
    #expect(defaults.string(forKey: "b") == "own")
    defaults.removeObject(forKey: "a")
    #expect(defaults.object(forKey: "a") == nil)
    #expect(throws: PreferenceError(.notAPropertyList)) { try defaults.seed(["x": 1, "y": NSNull()]) }
    #expect(defaults.object(forKey: "x") == nil)
  }

  /// One key in every place of the search list: files, arguments and registered values.
  private func everywhere() throws -> StoreFixture {
    let name = StoreFixture.name
    return try StoreFixture(arguments: ["-k", "argument", "-AppleLanguages", "(ja, en)"]) { files in
      try files.write(["k": "managed user"], to: "managed/users/1000/\(name).plist")
      try files.write(["k": "managed"], to: "managed/\(name).plist")
      try files.write(["k": "app host"], to: "Preferences/ByHost/\(name).0123456789abcdef0123456789abcdef.plist")
      try files.write(["k": "app"], to: "Preferences/\(name).plist")
      try files.write(["k": "suite host"], to: "Preferences/ByHost/com.example.suite.0123456789abcdef0123456789abcdef.plist")
      try files.write(["k": "suite"], to: "Preferences/com.example.suite.plist")
      try files.write(["k": "older suite"], to: "Preferences/com.example.older.plist")
      try files.write(["k": "global host"], to: "Preferences/ByHost/.GlobalPreferences.0123456789abcdef0123456789abcdef.plist")
      try files.write(["k": "global"], to: "Preferences/.GlobalPreferences.plist")
      try files.write(["k": "ja"], to: "Languages/ja.plist")
      try files.write(["k": "en"], to: "Languages/en.plist")
      try files.write(["k": "any app"], to: "anyUser/\(name).plist")
      try files.write(["k": "any suite"], to: "anyUser/com.example.suite.plist")
      try files.write(["k": "any global"], to: "anyUser/.GlobalPreferences.plist")
    }
  }

  @Test("all domains of the search, in their order")
  func searchList() throws {
    let fixture = try everywhere()
    let defaults = try fixture.standard
    defaults.addSuite(named: "com.example.older")
    defaults.addSuite(named: "com.example.suite")
    defaults.register(defaults: ["k": "registered"])
    let findings = defaults.explain("k")
    let expected = [
      "managed user", "managed", "argument", "app host", "app", "suite host", "suite", "older suite", "global host", "global",
      "ja", "en",
      "any app", "any suite", "any global", "registered",
    ]
    #expect(findings.compactMap { $0.value?.coercedToString } == expected)
    #expect(findings.filter { $0.value == nil }.map(\.kind) == [.suiteByHost, .anyUserSuite])
    #expect(defaults.domains().map(\.kind) == findings.map(\.kind))
    #expect(defaults.domains().map(\.name).contains("ja"))
    #expect(findings.first { $0.kind == .application }?.path == fixture.lists.places.user + "/\(StoreFixture.name).plist")
    #expect(findings.first { $0.kind == .argument }?.path == nil)
    #expect(defaults.string(forKey: "k") == "managed user")
    defaults.removeSuite(named: "com.example.suite")
    #expect(!defaults.explain("k").contains { $0.name == "com.example.suite" })
  }

  @Test("a managed value is forced, and setting it has no effect")
  func managed() throws {
    let fixture = try StoreFixture(arguments: ["-k", "argument"]) {
      try $0.write(["k": "managed"], to: "managed/\(StoreFixture.name).plist")
    }
    let defaults = try fixture.standard
    #expect(defaults.objectIsForced(forKey: "k"))
    #expect(!defaults.objectIsForced(forKey: "other"))
    #expect(defaults.objectIsForced(forKey: "k", inDomain: StoreFixture.name))
    #expect(!defaults.objectIsForced(forKey: "k", inDomain: "com.example.other"))
    #expect(!defaults.objectIsForced(forKey: "k", inDomain: "../x"))
    defaults.set("own", forKey: "k")
    #expect(defaults.string(forKey: "k") == "managed")
    #expect(defaults.persistentDomain(forName: StoreFixture.name)?["k"] as? String == "own")
    #expect(!FileManager.default.fileExists(atPath: fixture.lists.places.user + "/com.example.other.lock"))
  }

  @Test("a program hears of a setting that is forced while it runs")
  func managedLater() throws {
    let fixture = try StoreFixture { try $0.write(["x": 1], to: "managed/\(StoreFixture.name).plist") }
    let defaults = try fixture.standard
    defaults.set("own", forKey: "k")
    let changes = Recorder<String?>()
    let observation = defaults.observe("k") { changes.add($0.new as? String) }
    try fixture.files.write(["k": "managed"], to: "managed/\(StoreFixture.name).plist")
    #expect(eventually { changes.all == ["managed"] })
    #expect(defaults.string(forKey: "k") == "managed")
    #expect(defaults.objectIsForced(forKey: "k"))
    observation.cancel()
  }

  @Test("names of suites")
  func suiteNames() throws {
    let fixture = try StoreFixture()
    for name in [
      "", "NSGlobalDomain", StoreFixture.name, "../../x", "a/b", ".hidden", "a\0b", String(repeating: "n", count: 201),
    ] {
      #expect(try fixture.suite(name) == nil, "\(name)")
    }
    let standard = try fixture.standard
    let same = try #require(try fixture.suite(nil))
    standard.set(1, forKey: "k")
    #expect(same.integer(forKey: "k") == 1)
    let suite = try #require(try fixture.suite("com.example.suite"))
    let again = try #require(try fixture.suite("com.example.suite"))
    #expect(suite.object(forKey: "k") == nil)
    suite.set(2, forKey: "k")
    #expect(again.integer(forKey: "k") == 2)
    #expect(standard.integer(forKey: "k") == 1)
    standard.addSuite(named: "com.example.suite")
    suite.set(3, forKey: "only")
    #expect(standard.integer(forKey: "only") == 3)
    #expect(standard.integer(forKey: "k") == 1)
    for name in ["../x", StoreFixture.name, "NSGlobalDomain"] { standard.addSuite(named: name) }
    #expect(standard.domains().count == 13)
    standard.removeSuite(named: "com.example.suite")
    #expect(standard.object(forKey: "only") == nil)
  }

  @Test func persistentDomains() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    #expect(defaults.persistentDomain(forName: "com.example.other") == nil)
    defaults.setPersistentDomain(["a": 1, "b": 2], forName: "com.example.other")
    defaults.setPersistentDomain(["b": 3], forName: "com.example.other")
    #expect(defaults.persistentDomain(forName: "com.example.other") as? [String: Int] == ["b": 3])
    #expect(try fixture.suite("com.example.other")?.integer(forKey: "b") == 3)
    defaults.removePersistentDomain(forName: "com.example.other")
    #expect(defaults.persistentDomain(forName: "com.example.other") == nil)
    defaults.setPersistentDomain(["g": 5], forName: UserDefaults.globalDomain)
    #expect(defaults.integer(forKey: "g") == 5)
    #expect(defaults.persistentDomain(forName: UserDefaults.globalDomain) as? [String: Int] == ["g": 5])
    defaults.setPersistentDomain(["x": 1], forName: "../x")
    #expect(defaults.persistentDomain(forName: "../x") == nil)
  }

  @Test func volatileDomains() throws {
    let fixture = try StoreFixture(arguments: ["-a", "1"])
    let defaults = try fixture.standard
    #expect(defaults.volatileDomainNames == [UserDefaults.argumentDomain, UserDefaults.registrationDomain])
    #expect(defaults.volatileDomain(forName: UserDefaults.argumentDomain) as? [String: String] == ["a": "1"])
    #expect(defaults.integer(forKey: "a") == 1)
    defaults.setVolatileDomain(["x": 1], forName: "mine")
    defaults.setVolatileDomain(["y": 2], forName: "mine")
    #expect(try fixture.suite(nil)?.volatileDomain(forName: "mine") as? [String: Int] == ["y": 2])
    #expect(defaults.object(forKey: "y") == nil)
    defaults.removeVolatileDomain(forName: "mine")
    #expect(!defaults.volatileDomainNames.contains("mine"))
    defaults.setVolatileDomain(["a": "2"], forName: UserDefaults.argumentDomain)
    #expect(defaults.integer(forKey: "a") == 2)
    defaults.removeVolatileDomain(forName: UserDefaults.argumentDomain)
    #expect(defaults.object(forKey: "a") == nil)
    #expect(defaults.volatileDomainNames.contains(UserDefaults.argumentDomain))
  }

  @Test func representationIsTheUnion() throws {
    let fixture = try StoreFixture(arguments: ["-a", "argument"])
    let defaults = try fixture.standard
    defaults.set("own", forKey: "a")
    defaults.set("own", forKey: "b")
    defaults.register(defaults: ["b": "registered", "c": "registered"])
    defaults.setPersistentDomain(["d": "global"], forName: UserDefaults.globalDomain)
    #expect(
      defaults.dictionaryRepresentation() as? [String: String]
        == ["a": "argument", "b": "own", "c": "registered", "d": "global"])
    UserDefaults.resetStandardUserDefaults()
    #expect(defaults.string(forKey: "b") == "own")
  }
}
