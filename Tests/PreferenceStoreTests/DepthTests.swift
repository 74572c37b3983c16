import CofferPreferences
import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

/// Deeply nested values are stored or refused with an error, and never end the process.
@Suite struct DepthTests {
  private struct Holder {
    let content: Any
  }

  /// Leaks the value, because Swift's own deallocation would overflow a stack of the usual size.
  private static func kept<Value>(_ value: Value) -> Value {
    _ = unsafe Unmanaged.passRetained(Kept(value))
    return value
  }

  private final class Kept {
    let value: Any
    init(_ value: Any) { self.value = value }
  }

  private static func arrays(_ depth: Int, _ end: Any = 1) -> Any {
    var value = end
    for _ in 0..<depth { value = [value] as [Any] }
    return kept(value)
  }

  private static func dictionaries(_ depth: Int) -> Any {
    var value: Any = 1
    for _ in 0..<depth { value = ["k": value] as [String: Any] }
    return kept(value)
  }

  private static func mixed(_ depth: Int) -> Any {
    var value: Any = 1
    for level in 0..<depth {
      switch level % 5 {
      case 0: value = [value] as [Any]
      case 1: value = ["k": value] as [String: Any]
      case 2: value = [AnyHashable("k"): value] as [AnyHashable: Any]
      case 3: value = Optional<Any>.some(value) as Any
      default: value = ["k": [value]] as [String: [Any]]
      }
    }
    return kept(value)
  }

  @Test("a value of too many levels is refused, however many they are", arguments: [513, 5000, 10_000, 20_000])
  func tooDeep(_ depth: Int) throws {
    let defaults = try StoreFixture().standard
    defaults.set("before", forKey: "k")
    let values: [Any] = [
      Self.arrays(depth), Self.dictionaries(depth), Self.mixed(depth), ["k": Self.arrays(depth)],
      NSArray(object: Holder(content: Self.arrays(depth))), [UUID(), Self.arrays(depth)] as [Any],
    ]
    for (place, value) in values.enumerated() {
      let code: PreferenceError.Code = place == 4 ? .notAPropertyList : .valueTooDeep
      do {
        try defaults.store(value, forKey: "k")
        Issue.record("value \(place) was stored")
      } catch {
        #expect(error.code == code, "value \(place): \(error.detail)")
      }
      do {
        try defaults.seed(["other": value])
        Issue.record("value \(place) was stored")
      } catch {
        #expect(error.code == code, "value \(place): \(error.detail)")
      }
    }
    #expect(defaults.string(forKey: "k") == "before")
  }

  @Test("a deep value that is not a property list is named by its type")
  func deepStrangers() throws {
    let defaults = try StoreFixture().standard
    do {
      try defaults.store(Holder(content: Self.arrays(10_000)), forKey: "k")
      Issue.record("stored")
    } catch {
      #expect(error.code == .notAPropertyList)
      #expect(error.detail == "Attempt to insert non-property list object of type Holder for key k")
    }
    #expect(throws: PreferenceError(.notAPropertyList)) {
      try defaults.store([Set([[[UUID()]]]), [Self.arrays(300)][...]] as [Any], forKey: "k")
    }
  }

  @Test("the deepest value is stored and read, and to convert it takes as long as it has levels")
  func deepest() throws {
    let defaults = try StoreFixture().standard
    let deepest = PropertyList.maximumDepth
    for value in [Self.arrays(deepest), Self.dictionaries(deepest)] {
      try defaults.store(value, forKey: "k")
      #expect(defaults.object(forKey: "k") != nil)
      #expect(throws: PreferenceError(.valueTooDeep)) { try defaults.store([value], forKey: "k") }
    }
    // A conversion that bridges each level and everything below it takes seconds per value.
    let start = ContinuousClock.now
    for _ in 0..<200 {
      #expect(throws: PreferenceError(.valueTooDeep)) { try defaults.store([Self.arrays(511, [[1]])], forKey: "k") }
    }
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  @Test("one object that is held many times is converted as often as a setting has bytes, and no longer")
  func manyPaths() throws {
    let defaults = try StoreFixture().standard
    var shared = NSArray(array: [1])
    for _ in 0..<100 { shared = NSArray(objects: shared, shared) }
    #expect(throws: PreferenceError(.valueTooLarge)) { try defaults.store(shared, forKey: "k") }
  }

  // MARK: Types of the program

  private final class Chain: Codable, Storable {
    let next: Chain?
    let others: [Chain]
    init(_ next: Chain?, _ others: [Chain] = []) { (self.next, self.others) = (next, others) }
  }

  private struct Wrapper: Codable, Storable {
    let chain: Chain
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(chain)
    }
    init(_ chain: Chain) { self.chain = chain }
    init(from decoder: any Decoder) throws { chain = try decoder.singleValueContainer().decode(Chain.self) }
  }

  private indirect enum Tree: Storable {
    case leaf
    case node(Tree)
    func storedValue() -> PropertyListValue {
      var value = PropertyListValue.integer(1)
      var tree = self
      while case .node(let next) = tree { (value, tree) = (.array([value]), next) }
      return value
    }
    init?(storedValue: PropertyListValue) { return nil }
    init(depth: Int) {
      var tree = Tree.leaf
      for _ in 0..<depth { tree = .node(tree) }
      self = tree
    }
  }

  @Test("a Codable value of too many levels is refused", arguments: [600, 10_000])
  func codable(_ depth: Int) throws {
    let fixture = try StoreFixture()
    let (defaults, subclass) = (try fixture.standard, try #require(Plain(suiteName: "com.example.depth")))
    var (chain, nested) = (Chain(nil), Chain(nil))
    for _ in 0..<depth { (chain, nested) = (Chain(chain), Chain(nil, [nested])) }
    for value in [Self.kept(chain), Self.kept(nested)] {
      #expect(throws: PreferenceError(.valueTooDeep)) { try value.storedValue() }
      #expect(throws: PreferenceError(.valueTooDeep)) { try Wrapper(value).storedValue() }
      for store in [defaults, subclass] {
        store.set(value, for: Key("chain", default: Chain(nil)))
        #expect(store.object(forKey: "chain") == nil)
      }
    }
    // Swift overflows the stack when it deallocates a value of 10,000 levels.
    for store in [defaults, subclass] {
      store.set(Tree(depth: min(depth, 2000)), for: Key("tree", default: .leaf))
      #expect(store.object(forKey: "tree") == nil)
    }
  }

  private final class Plain: UserDefaults, @unchecked Sendable {}

  @Test func aCodableValueOfFewerLevelsIsRead() throws {
    var chain = Chain(nil)
    for _ in 0..<200 { chain = Chain(chain) }
    var read = Chain(storedValue: try chain.storedValue())
    var count = 0
    while let next = read?.next { (read, count) = (next, count + 1) }
    #expect(count == 200)
  }
}
