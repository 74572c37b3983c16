import Foundation
import Preferences
import PropertyLists
import Synchronization
import Testing

/// Runs the body on threads of its own, each with its number, and waits for them.
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
  @Test("B21 a thread reads what it has written, and what it was told of")
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

  @Test("B21 observers of several threads hear of the last value last, and never twice at a time")
  func observersAgree() {
    let memory = MemoryList()
    let application = memory[.application]
    let busy = Atomic(0)
    let overlaps = Atomic(0)
    let changes = Recorder<PreferenceChange.Key>()
    let observation = memory.list.observe("k") { change in
      if busy.add(1, ordering: .acquiringAndReleasing).newValue != 1 { overlaps.add(1, ordering: .relaxed) }
      for key in change.keys { changes.add(key) }
      busy.subtract(1, ordering: .acquiringAndReleasing)
    }
    onThreads(8) { thread in
      for round in 0..<500 { application.set(.integer(Int64(thread * 1000 + round)), forKey: "k") }
    }
    let all = changes.all
    #expect(overlaps.load(ordering: .acquiring) == 0)
    #expect(all.last?.new == memory.list.value(forKey: "k"))
    #expect(all.first?.old == nil)
    // Each change starts where the one before has ended.
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.new == $1.old })
    observation.cancel()
  }
}
