import CofferPreferences
import CofferPropertyLists
import Foundation
import Synchronization
import Testing

/// Runs the body on separate threads, each with its number, and waits for them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    let thread = Thread {
      body(number)
      group.leave()
    }
    thread.start()
  }
  group.wait()
}

@Suite(.serialized) struct ConcurrencyTests {
  @Test("a thread reads its own changes, and those delivered to it")
  func readYourWrites() {
    let memory = MemoryList()
    let application = memory[.application]
    let list = memory.list
    let wrong = Atomic(0)
    let latest = Atomic(0)
    onThreads(8) { thread in
      for round in 1...2000 {
        application.set(.integer(Int64(round)), forKey: "mine\(thread)")
        if list.integer(forKey: "mine\(thread)") != round { wrong.add(1, ordering: .relaxed) }
        if thread == 0 {
          application.set(.integer(Int64(round)), forKey: "shared")
          latest.store(round, ordering: .releasing)
        } else {
          let told = latest.load(ordering: .acquiring)
          if list.integer(forKey: "shared") < told { wrong.add(1, ordering: .relaxed) }
        }
        if thread == 1, round % 50 == 0 {
          list.edit { $0.insert(SearchEntry(.suite, name: "s", domain: VolatileDomain()), at: 4) }
          list.edit { $0.remove(at: 4) }
        }
      }
    }
    #expect(wrong.load(ordering: .acquiring) == 0)
  }

  @Test("observers of several threads hear of each change once, in their order, and never twice at a time")
  func observersMissNothing() {
    let memory = MemoryList()
    let (application, global) = (memory[.application], memory[.global])
    global.set(.integer(-1), forKey: "k")
    let busy = Atomic(0)
    let overlaps = Atomic(0)
    let changes = Recorder<PreferenceChange.Key>()
    let all = Recorder<PreferenceChange.Key>()
    let ofDomain = Recorder<PreferenceChange.Key>()
    let observations = [
      memory.list.observe("k") { change in
        if busy.add(1, ordering: .acquiringAndReleasing).newValue != 1 { overlaps.add(1, ordering: .relaxed) }
        for key in change.keys { changes.add(key) }
        busy.subtract(1, ordering: .acquiringAndReleasing)
      },
      memory.list.observeValues { for key in $0.keys { all.add(key) } },
      application.observe { for key in $0.keys { ofDomain.add(key) } },
    ]
    onThreads(8) { thread in
      for round in 0..<200 {
        application.set(.integer(Int64(thread * 1000 + round)), forKey: "k")
        // Hidden by the application's value.
        global.set(.integer(Int64(thread * 1000 + round)), forKey: "k")
      }
    }
    for changes in [changes.all, all.all, ofDomain.all] {
      #expect(changes.count == 1600)
      #expect(Set(changes.compactMap { $0.new?.coercedToInteger }).count == 1600)
      #expect(changes.last?.new == memory.list.value(forKey: "k"))
      // Each change starts with the end value of the preceding one.
      #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.new == $1.old })
    }
    #expect(changes.all.first?.old == .integer(-1))
    #expect(overlaps.load(ordering: .acquiring) == 0)
    for observation in observations { observation.cancel() }
  }

  @Test("an observer that comes in the middle gets a value, and each change from there on")
  func observersThatCome() {
    let memory = MemoryList()
    let application = memory[.application]
    let isDone = Atomic(false)
    let writer = DispatchGroup()
    for thread in 0..<2 {
      writer.enter()
      Thread {
        var round = 0
        while !isDone.load(ordering: .acquiring) {
          round += 1
          // Values repeat.
          application.set(.integer(Int64(round % 3)), forKey: "k")
          if thread == 0, round % 7 == 0 { application.set(nil, forKey: "k") }
        }
        writer.leave()
      }.start()
    }
    var seen: [[PropertyListValue?]] = []
    var wrong = 0
    for round in 0..<200 {
      let first = Recorder<PropertyListValue?>()
      let changes = Recorder<PreferenceChange.Key>()
      let observation = memory.list.observe("k") {
        first.add($0)
      } _: {
        for key in $0.keys { changes.add(key) }
      }
      if round % 2 == 0 {
        let suite = VolatileDomain(PropertyListDictionary())
        suite.set(.string("suite"), forKey: "k")
        memory.list.edit { $0.insert(SearchEntry(.suite, name: "s", domain: suite), at: 2) }
        memory.list.edit { $0.remove(at: 2) }
      }
      while changes.all.count < 3 { sched_yield() }
      observation.cancel()
      let all = changes.all
      if first.all.count != 1 || first.all[0] != all[0].old { wrong += 1 }
      if !zip(all, all.dropFirst()).allSatisfy({ $0.new == $1.old }) || all.contains(where: { $0.old == $0.new }) { wrong += 1 }
      seen.append(all.map(\.new))
    }
    isDone.store(true, ordering: .releasing)
    writer.wait()
    #expect(wrong == 0)
    #expect(seen.contains { $0.contains(.string("suite")) })
  }
}
