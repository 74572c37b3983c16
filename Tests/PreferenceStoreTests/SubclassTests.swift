import Foundation
import Testing

import class PreferenceStore.UserDefaults

/// Subclasses of the store, as programs have them mostly for tests. They have to compile as with Foundation's class.
@Suite struct SubclassTests {
  private final class Recording: UserDefaults, @unchecked Sendable {
    private(set) var keys: [String] = []

    convenience init() { self.init(suiteName: "com.example.recording")! }
    override init?(suiteName: String?) { super.init(suiteName: suiteName) }

    override func set(_ value: Any?, forKey key: String) { keys.append(key) }
    override func set(_ value: Int, forKey key: String) { keys.append(key) }
    override func object(forKey key: String) -> Any? { "instead of \(key)" }
  }

  private final class Plain: UserDefaults, @unchecked Sendable {}

  @Test("a subclass has initialisers, and stands for the store")
  func subclasses() throws {
    let recording = Recording()
    let store: UserDefaults = recording
    store.set(1, forKey: "count")
    store.set("Ada", forKey: "name")
    #expect(recording.keys == ["count", "name"])
    #expect(store.object(forKey: "name") as? String == "instead of name")
    #expect(Plain(suiteName: "com.example.plain") != nil)
    #expect(Plain(suiteName: "../outside") == nil)
  }

  /// Keeps values in memory, as in many test suites.
  private final class InMemory: UserDefaults, @unchecked Sendable {
    private let values = Recorder<(String, String?)>()
    nonisolated(unsafe) var objects: [String: Any] = [:]

    override func object(forKey key: String) -> Any? { unsafe objects[key] }
    override func set(_ value: Any?, forKey key: String) {
      unsafe objects[key] = value
      values.add((key, value.map { "\($0)" }))
    }
    override func removeObject(forKey key: String) { set(nil as Any?, forKey: key) }
    var calls: [String] { values.all.map { "\($0.0) \($0.1 ?? "nil")" } }
  }

  @Test("a subclass that overrides object(forKey:) and set(_:forKey:) is asked by all other accessors, as Apple's is")
  func primitives() throws {
    let memory = try #require(InMemory(suiteName: "com.example.memory"))
    let store: UserDefaults = memory
    store.set(5, forKey: "int")
    store.set(2.5, forKey: "double")
    store.set(Float(0.5), forKey: "float")
    store.set(true, forKey: "bool")
    store.set(URL(filePath: "/x"), forKey: "file")
    store.set(URL(string: "https://h.example"), forKey: "url")
    store.setValue("v", forKey: "value")
    store.set(["a", "b"], forKey: "list")
    store.set(Data([1]), forKey: "data")
    #expect(memory.calls.prefix(5) == ["int 5", "double 2.5", "float 0.5", "bool 1", "file /x"])
    #expect(memory.calls.count == 9)
    #expect(store.integer(forKey: "int") == 5)
    #expect(store.string(forKey: "int") == "5")
    #expect(store.double(forKey: "double") == 2.5)
    #expect(store.float(forKey: "float") == 0.5)
    #expect(store.bool(forKey: "bool"))
    #expect(store.url(forKey: "file")?.path == "/x")
    #expect(store.url(forKey: "url") == URL(string: "https://h.example"))
    #expect(store.value(forKey: "value") as? String == "v")
    #expect(store.array(forKey: "list")?.count == 2)
    #expect(store.stringArray(forKey: "list") == ["a", "b"])
    #expect(store.data(forKey: "data") == Data([1]))
    #expect(store.dictionary(forKey: "data") == nil)
    #expect(store.integer(forKey: "missing") == 0)
    store.set(nil as URL?, forKey: "url")
    store.removeObject(forKey: "int")
    #expect(memory.calls.suffix(2) == ["url nil", "int nil"])
    #expect(store.url(forKey: "url") == nil)
    // The files are unchanged.
    #expect(UserDefaults(suiteName: "com.example.memory")?.persistentDomain(forName: "com.example.memory") == nil)
  }
}
