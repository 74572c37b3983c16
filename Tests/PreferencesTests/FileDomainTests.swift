import CofferPreferences
import CofferPropertyLists
import Foundation
import Testing

@Suite struct FileDomainTests {
  let fixture: Fixture
  init() throws { fixture = try Fixture() }

  @Test func aValueIsThereForTheNextProcess() throws {
    do {
      let domain = try fixture.domain()
      try domain.set(.string("Ada"), forKey: "name")
      try domain.set(.integer(1), forKey: "count")
      try domain.set(nil, forKey: "count")
    }
    let next = try fixture.domain()
    #expect(next.value(forKey: "name") == .string("Ada"))
    #expect(next.value(forKey: "count") == nil)
    #expect(next.values().count == 1)
  }

  @Test(arguments: [false, true]) func anotherProcessSeesItAtOnce(isUnmapped: Bool) throws {
    let one = try fixture.domain { $0.isUnmapped = isUnmapped }
    let two = try fixture.domain()
    for number in 0..<1000 {
      let (writer, reader) = number % 2 == 0 ? (one, two) : (two, one)
      let before = reader.stamp
      try writer.set(.integer(Int64(number)), forKey: "number")
      #expect(reader.stamp != before)
      #expect(reader.value(forKey: "number") == .integer(Int64(number)))
    }
  }

  @Test func anEqualValueMakesNoRecordAndNoNotice() throws {
    let domain = try fixture.domain()
    try domain.set(.real(0.5), forKey: "volume")
    let size = try FileManager.default.attributesOfItem(atPath: fixture.file("com.example.app.journal").path)[.size] as? Int
    let notices = Counter()
    let observation = domain.observe { _ in notices.add() }
    try domain.set(.real(0.5), forKey: "volume")
    #expect(notices.count == 0)
    #expect(try FileManager.default.attributesOfItem(atPath: fixture.file("com.example.app.journal").path)[.size] as? Int == size)
    try domain.set(.integer(1), forKey: "volume")
    #expect(notices.count == 1)
    observation.cancel()
  }

  @Test func checkpointWritesAPropertyListThatOthersRead() throws {
    let domain = try fixture.domain()
    try domain.set(.string("Ada"), forKey: "name")
    try domain.set(.boolean(true), forKey: "flag")
    try domain.checkpoint()
    let list = try #require(try fixture.plist())
    #expect(list["name"] as? String == "Ada")
    #expect(list["flag"] as? Bool == true)
    #expect(fixture.names == ["com.example.app.journal", "com.example.app.lock", "com.example.app.plist"])
    for name in fixture.names {
      let attributes = try FileManager.default.attributesOfItem(atPath: fixture.file(name).path)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }

  @Test func anEditedPropertyListIsMerged() throws {
    let domain = try fixture.domain()
    try domain.set(.string("old"), forKey: "edited")
    try domain.set(.string("x"), forKey: "removed")
    try domain.checkpoint()
    try domain.set(.string("not yet in the plist"), forKey: "unfolded")
    try fixture.write(["edited": "new", "added": 7])
    let next = try fixture.domain()
    #expect(next.value(forKey: "edited") == .string("new"))
    #expect(next.value(forKey: "added") == .integer(7))
    #expect(next.value(forKey: "removed") == nil)
    #expect(next.value(forKey: "unfolded") == .string("not yet in the plist"))
    // The first domain follows.
    #expect(domain.values() == next.values())
    try next.checkpoint()
    #expect(try fixture.plist()?["unfolded"] as? String == "not yet in the plist")
    #expect(try fixture.plist()?["added"] as? Int == 7)
    // A second edit of values that the first edit changed.
    try fixture.write(["edited": "newer"])
    #expect(try fixture.domain().values().texts == ["edited": "string(\"newer\")"])
  }

  @Test func aPropertyListOfAnotherProgramIsTheStart() throws {
    try fixture.write(["name": "Ada"])
    let domain = try fixture.domain()
    #expect(domain.value(forKey: "name") == .string("Ada"))
    try domain.set(.integer(1), forKey: "count")
    let next = try fixture.domain()
    #expect(next.value(forKey: "name") == .string("Ada"))
    #expect(next.value(forKey: "count") == .integer(1))
  }

  @Test func theJournalIsMadeShortAndOthersFollow() throws {
    let domain = try fixture.domain()
    let other = try fixture.domain()
    for number in 0..<5000 { try domain.set(.integer(Int64(number)), forKey: "key\(number % 10)") }
    #expect(other.value(forKey: "key9") == .integer(4999))
    try domain.checkpoint()
    let size = try FileManager.default.attributesOfItem(atPath: fixture.file("com.example.app.journal").path)[.size] as? Int
    // Less than the original 200 KiB. The watching thread may have made it short a moment ago: up to 64 KiB of records stay then.
    #expect(try #require(size) < 70_000)
    #expect(other.values() == domain.values())
    try other.set(.string("after"), forKey: "key1")
    #expect(domain.value(forKey: "key1") == .string("after"))
    #expect(try fixture.domain().values() == other.values())
  }

  @Test func aValueIsUnderOneOfItsKeysAtEveryMoment() throws {
    let (one, two) = (try fixture.domain(), try fixture.domain())
    let done = Counter()
    try one.set(.string("Ada"), forKey: "a")
    // A separate thread, because a task might block the thread of the task that waits for it.
    Thread {
      for round in 0..<5000 { try? one.rename(round % 2 == 0 ? "a" : "b", to: round % 2 == 0 ? "b" : "a") { _ in true } }
      done.add()
    }.start()
    while done.count == 0 { #expect(two.values().count == 1) }
    #expect(two.values().texts == ["a": "string(\"Ada\")"])
  }

  @Test func renamingExcludesOtherWriters() throws {
    let (one, two) = (try fixture.domain(), try fixture.domain { $0.timeout = 20 })
    try one.set(.string("Ada"), forKey: "a")
    try one.set(.string("Bob"), forKey: "b")
    let notices = Counter()
    let observation = one.observe { change in
      #expect(change.keys.map(\.name).sorted() == ["a", "b"])
      notices.add()
    }
    try one.rename("a", to: "b") { value in
      #expect(value == .string("Ada"))
      #expect(throws: PreferenceError(.busy)) { try two.set(.string("Eve"), forKey: "a") }
      return true
    }
    #expect(two.values().texts == ["b": "string(\"Ada\")"])
    #expect(notices.count == 1)
    observation.cancel()
  }

  @Test func aRefusedRenamingChangesNothing() throws {
    let domain = try fixture.domain()
    try domain.set(.string("Ada"), forKey: "a")
    let stamp = domain.stamp
    try domain.rename("a", to: "b") { _ in false }
    try domain.rename("a", to: "a") { _ in true }
    try domain.rename("none", to: "a") { value in
      #expect(value == nil)
      return true
    }
    #expect(throws: PreferenceError(.keyTooLong)) {
      try domain.rename("a", to: String(repeating: "k", count: PreferenceLimits.keyByteCount + 1)) { _ in true }
    }
    #expect(domain.values().texts == ["a": "string(\"Ada\")"])
    #expect(domain.stamp == stamp)
  }

  @Test func updateIsExact() async throws {
    let domains = try (0..<4).map { _ in try fixture.domain() }
    await withTaskGroup { group in
      for domain in domains {
        group.addTask {
          for _ in 0..<500 {
            try? domain.update("counter") { value in
              if case .integer(let number)? = value { .integer(number + 1) } else { .integer(1) }
            }
          }
        }
      }
    }
    #expect(domains[0].value(forKey: "counter") == .integer(2000))
  }
}

final class Counter: Sendable {
  private let value = NSLockedInt()
  var count: Int { value.get() }
  func add() { value.add() }
}

final class NSLockedInt: @unchecked Sendable {
  private let lock = NSLock()
  private var value = 0
  func get() -> Int { lock.withLock { value } }
  func add() { lock.withLock { value += 1 } }
}
