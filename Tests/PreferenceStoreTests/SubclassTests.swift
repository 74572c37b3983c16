import Foundation
import Testing

import class PreferenceStore.UserDefaults

/// Classes that programs make of the store, mostly for their tests. They have to compile as with Foundation's.
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

  @Test("B1 a subclass has initialisers, and stands for the store")
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
}
