import CofferPreferences
import Foundation
import PreferenceStore
import Synchronization
import Testing

import class PreferenceStore.UserDefaults

@Suite(.serialized) struct StoreConcurrencyTests {
  @Test("sixteen threads with mixed calls lose nothing")
  func mixedCalls() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    let suite = try #require(try fixture.suite("com.example.suite"))
    let wrong = Recorder<String>()
    let heard = Atomic(0)
    let observation = defaults.observe("shared") { _ in heard.add(1, ordering: .relaxed) }
    let notifications = Notifications(of: defaults)
    let rounds = 60
    let group = DispatchGroup()
    for thread in 0..<16 {
      group.enter()
      let work = Thread {
        for round in 0..<rounds {
          let key = "\(thread).\(round)"
          defaults.set(round, forKey: key)
          if defaults.integer(forKey: key) != round { wrong.add(key) }
          suite.set("\(round)", forKey: "thread\(thread)")
          if suite.integer(forKey: "thread\(thread)") != round { wrong.add("suite \(key)") }
          switch thread % 8 {
          case 0: defaults.set(thread * 1000 + round, forKey: "shared")
          case 1: defaults.register(defaults: ["registered": round])
          case 2: defaults.addSuite(named: "com.example.added\(round % 3)")
          case 3: defaults.removeSuite(named: "com.example.added\(round % 3)")
          case 4: _ = defaults.dictionaryRepresentation()
          case 5: defaults.setVolatileDomain(["v": round], forName: "volatile")
          case 6: _ = defaults.explain(key)
          default: if round % 20 == 0 { _ = defaults.synchronize() }
          }
        }
        group.leave()
      }
      work.start()
    }
    group.wait()
    #expect(wrong.all == [])
    for thread in 0..<16 {
      for round in 0..<rounds { #expect(defaults.object(forKey: "\(thread).\(round)") as? Int == round) }
      #expect(suite.integer(forKey: "thread\(thread)") == rounds - 1)
    }
    #expect(heard.load(ordering: .acquiring) > 0)
    #expect(notifications.count >= 16 * rounds)
    observation.cancel()
  }

  @Test("eight threads set a value two hundred times each: observers, streams and onChange get each of the changes")
  func eachChangeArrives() async throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    let observed = Recorder<UserDefaults.Change>()
    let perKey = Recorder<Int>()
    let onMain = Recorder<Int>()
    let key = Key<Int>("k", default: -1)
    let observations = [
      defaults.observe("k") { observed.add($0) },
      defaults.onChange(of: key) { old, new in onMain.add(old == new ? -2 : new) },
    ]
    let stream = defaults.changes(forKey: "k")
    await withCheckedContinuation { continuation in
      let group = DispatchGroup()
      for thread in 0..<8 {
        group.enter()
        Thread {
          for round in 0..<200 {
            defaults.set(thread * 1000 + round, forKey: "k")
            // Changes of another key must not interfere.
            defaults.set(round, forKey: "other\(thread)")
          }
          group.leave()
        }.start()
      }
      group.notify(queue: .global()) { continuation.resume() }
    }
    for await change in stream {
      perKey.add(change.new as? Int ?? -1)
      if perKey.all.count == 1600 { break }
    }
    await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    let news = observed.all.map { $0.new as? Int ?? -1 }
    #expect(news.count == 1600)
    #expect(Set(news).count == 1600)
    #expect(zip(observed.all, observed.all.dropFirst()).allSatisfy { $0.newValue == $1.oldValue })
    #expect(perKey.all == news)
    #expect(onMain.all == news)
    #expect(news.last == defaults.integer(forKey: "k"))
    for observation in observations { observation.cancel() }
  }

  @Test("the first read of a new store is never a wrong nil")
  func firstReads() throws {
    let fixture = try StoreFixture { try $0.write(["k": 42], to: "Preferences/\(StoreFixture.name).plist") }
    let wrong = Atomic(0)
    for _ in 0..<20 {
      let defaults = try fixture.standard
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        if defaults.integer(forKey: "k") != 42 { wrong.add(1, ordering: .relaxed) }
      }
    }
    #expect(wrong.load(ordering: .acquiring) == 0)
  }
}
