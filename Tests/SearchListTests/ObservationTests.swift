import CofferPreferences
import CofferPropertyLists
import Synchronization
import Testing

final class Recorder<Element: Sendable>: Sendable {
  private let state = Mutex<[Element]>([])
  func add(_ element: Element) { state.withLock { $0.append(element) } }
  var all: [Element] { state.withLock { $0 } }
}

@Suite struct ObservationTests {
  @Test("an observer gets the old and the new value that reading gives")
  func effectiveValues() {
    let memory = MemoryList()
    let changes = Recorder<PreferenceChange.Key>()
    let observation = memory.list.observe("a.b") { for key in $0.keys { changes.add(key) } }
    memory[.application].set(.integer(1), forKey: "a.b")
    memory[.application].set(.integer(1), forKey: "a.b")
    memory[.application].set(.integer(5), forKey: "other")
    memory[.registration].set(.integer(9), forKey: "a.b")
    memory[.managed].set(.integer(2), forKey: "a.b")
    memory[.application].set(.integer(3), forKey: "a.b")
    memory[.managed].set(nil, forKey: "a.b")
    memory[.application].set(nil, forKey: "a.b")
    memory[.argument].set(.integer(9), forKey: "a.b")
    observation.cancel()
    memory[.argument].set(.integer(10), forKey: "a.b")
    let expected: [(Int64?, Int64)] = [(nil, 1), (1, 2), (2, 3), (3, 9)]
    #expect(changes.all.map(\.old) == expected.map { $0.0.map { .integer($0) } })
    #expect(changes.all.map(\.new) == expected.map { .integer($0.1) })
    #expect(changes.all.allSatisfy { $0.name == "a.b" })
  }

  @Test func suitesComeAndGo() {
    let memory = MemoryList()
    memory[.registration].set(.integer(1), forKey: "k")
    let changes = Recorder<PreferenceChange.Key>()
    let all = Recorder<PreferenceChange.Key>()
    let lists = Recorder<SearchListChange>()
    let observations = [
      memory.list.observe("k") { for key in $0.keys { changes.add(key) } },
      memory.list.observeValues { for key in $0.keys { all.add(key) } },
      memory.list.observeChanges { lists.add($0) },
    ]
    let suite = VolatileDomain()
    suite.set(.integer(2), forKey: "k")
    memory.list.edit { $0.insert(SearchEntry(.suite, name: "s", domain: suite), at: 4) }
    suite.set(.integer(3), forKey: "k")
    memory.list.edit { $0.remove(at: 4) }
    suite.set(.integer(4), forKey: "k")
    #expect(changes.all.map(\.new) == [.integer(2), .integer(3), .integer(1)])
    #expect(all.all.map(\.new) == changes.all.map(\.new))
    #expect(lists.all.map(\.keys) == [["k"], ["k"], ["k"]])
    for observation in observations { observation.cancel() }
  }

  @Test func handlersRunInTheOrderInWhichTheyCame() {
    let memory = MemoryList()
    let told = Recorder<String>()
    var observations = ["a", "b", "a"].enumerated().map { place, key in
      memory.list.observe(key) { change in told.add("\(place) \(change.keys.map(\.name))") }
    }
    observations.append(memory.list.observeValues { change in told.add("3 \(change.keys.map(\.name))") })
    observations.append(memory.list.observe("b") { change in told.add("4 \(change.keys.map(\.name))") })
    observations.append(memory.list.observe("c") { _ in told.add("5") })
    memory[.application].apply([("b", .integer(1)), ("a", .integer(1))])
    #expect(told.all == [#"0 ["a"]"#, #"1 ["b"]"#, #"2 ["a"]"#, #"3 ["a", "b"]"#, #"4 ["b"]"#])
    observations[0].cancel()
    memory[.application].set(.integer(2), forKey: "a")
    #expect(told.all.dropFirst(5) == [#"2 ["a"]"#, #"3 ["a"]"#])
    for observation in observations { observation.cancel() }
    memory[.application].set(.integer(3), forKey: "a")
    #expect(told.all.count == 7)
  }

  /// Counts its reads.
  private final class CountingDomain: PreferenceDomain {
    let memory = VolatileDomain()
    private let asked = Mutex(0)

    var stamp: UInt64 { memory.stamp }
    func values() -> PropertyListDictionary { memory.values() }
    func observe(
      note: @escaping @Sendable (PreferenceChange) -> Void,
      tell: @escaping @Sendable (PreferenceChange.Origin, [String]) -> Void
    ) -> PreferenceObservation {
      memory.observe(note: note, tell: tell)
    }
    func value(forKey key: String) -> PropertyListValue? {
      asked.withLock { $0 += 1 }
      return memory.value(forKey: key)
    }

    func askedCount(in body: () -> Void) -> Int {
      let before = asked.withLock { $0 }
      body()
      return asked.withLock { $0 } - before
    }
  }

  @Test("a change reads no domain, with any number of observers, and is delivered to those of its key")
  func observersOfOtherKeys() {
    let domain = CountingDomain()
    let list = SearchList([SearchEntry(.application, name: "a", domain: domain)])
    let told = Recorder<String>()
    var observations = (0..<1000).map { number in list.observe("key \(number)") { told.add($0.keys[0].name) } }
    #expect(domain.askedCount { domain.memory.set(.integer(1), forKey: "key 7") } == 0)
    observations.append(list.observe("key 7") { told.add($0.keys[0].name) })
    #expect(domain.askedCount { domain.memory.set(.integer(2), forKey: "key 7") } == 0)
    #expect(domain.askedCount { domain.memory.set(.integer(2), forKey: "nobody's") } == 0)
    #expect(domain.askedCount { domain.memory.apply([("key 7", nil), ("key 8", .integer(1))]) } == 0)
    #expect(told.all == ["key 7", "key 7", "key 7", "key 7", "key 8", "key 7"])
    for observation in observations { observation.cancel() }
    #expect(domain.askedCount { domain.memory.set(.integer(3), forKey: "key 7") } == 0)
  }

  @Test func aHandlerMayWrite() {
    let memory = MemoryList()
    let application = memory[.application]
    let values = Recorder<PropertyListValue?>()
    let observation = memory.list.observe("k") { change in
      values.add(change.keys[0].new)
      if case .integer(let number) = change.keys[0].new, number < 5 { application.set(.integer(number + 1), forKey: "k") }
    }
    application.set(.integer(1), forKey: "k")
    #expect(values.all == (1...5).map { .integer($0) })
    observation.cancel()
  }

  @Test("a change by a handler is told to it before the call that makes the change returns, as by key-value observing")
  func aHandlerIsToldOfItsOwnChangesAtOnce() {
    let memory = MemoryList()
    let application = memory[.application]
    let told = Recorder<String>()
    let observation = memory.list.observe("k") { change in
      guard case .integer(let number) = change.keys[0].new else { return }
      told.add("told \(number)")
      if number < 3 { application.set(.integer(number + 1), forKey: "k") }
      told.add("end \(number)")
    }
    application.set(.integer(1), forKey: "k")
    #expect(told.all == ["told 1", "told 2", "told 3", "end 3", "end 2", "end 1"])
    observation.cancel()
  }

  @Test func anObservationThatIsGoneEnds() {
    let memory = MemoryList()
    let values = Recorder<Int>()
    do {
      let observation = memory.list.observe("k") { _ in values.add(1) }
      memory[.application].set(.integer(1), forKey: "k")
      withExtendedLifetime(observation) {}
    }
    memory[.application].set(.integer(2), forKey: "k")
    #expect(values.all.count == 1)
  }

  @Test func theInitialValueComesFirst() {
    let memory = MemoryList()
    memory[.application].set(.integer(1), forKey: "k")
    let values = Recorder<PropertyListValue?>()
    let observation = memory.list.observe("k") {
      values.add($0)
    } _: {
      values.add($0.keys[0].new)
    }
    memory[.application].set(.integer(2), forKey: "k")
    #expect(values.all == [.integer(1), .integer(2)])
    observation.cancel()
  }
}
