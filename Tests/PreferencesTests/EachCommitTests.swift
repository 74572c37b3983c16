import CofferFiles
import CofferPropertyLists
import Foundation
import Synchronization
import Testing

@testable import CofferPreferences

/// Each commit of another process is delivered separately, even if this process reads late. Each test has its own process,
/// because once another suite has started the watch, its thread may read at any time.
@Suite struct EachCommitTests {
  /// The delivered values of `key`, old and new.
  final class Told: Sendable {
    private let changes = Mutex<[String]>([])
    func add(_ change: PreferenceChange) {
      for key in change.keys {
        changes.withLock { $0.append("\(key.old.map { "\($0)" } ?? "-")>\(key.new.map { "\($0)" } ?? "-")") }
      }
    }
    var all: [String] { changes.withLock { $0 } }
  }

  private static func chain(_ numbers: [Int?]) -> [String] {
    func text(_ number: Int?) -> String { number.map { "\(PropertyListValue.integer(Int64($0)))" } ?? "-" }
    return zip(numbers, numbers.dropFirst()).map { "\(text($0))>\(text($1))" }
  }

  private static func set(_ numbers: Int..., in domain: FileDomain) throws {
    for number in numbers { try domain.set(.integer(Int64(number)), forKey: "key") }
  }

  @Test func commitsBetweenTwoLooksAreToldEach() async {
    await #expect(processExitsWith: .success) {
      let (fixture, told) = (try Fixture(), Told())
      let writer = try fixture.domain()
      let reader = try fixture.domain()
      let observation = reader.observe { [told] in told.add($0) }
      try EachCommitTests.set(1, 2, 3, in: writer)
      _ = reader.value(forKey: "key")
      try EachCommitTests.set(2, 1, in: writer)
      _ = reader.lookAgain()
      #expect(told.all == EachCommitTests.chain([nil, 1, 2, 3, 2, 1]))
      observation.cancel()
    }
  }

  @Test func aDomainWithoutFilesIsObservedFromItsFirstCommit() async {
    await #expect(processExitsWith: .success) {
      let (fixture, told) = (try Fixture(), Told())
      let reader = try fixture.domain { $0.isCreating = false }
      let observation = reader.observe { [told] in told.add($0) }
      try EachCommitTests.set(1, 2, 3, in: try fixture.domain())
      _ = reader.lookAgain()
      #expect(told.all == EachCommitTests.chain([nil, 1, 2, 3]))
      observation.cancel()
    }
  }

  @Test func aJournalThatWasMadeShortOnceHidesNoCommit() async {
    await #expect(processExitsWith: .success) {
      let (fixture, told) = (try Fixture(), Told())
      let writer = try fixture.domain()
      try EachCommitTests.set(0, in: writer)
      let reader = try fixture.domain()
      let observation = reader.observe { [told] in told.add($0) }
      try EachCommitTests.set(1, 2, in: writer)
      try writer.compact()
      try EachCommitTests.set(3, 4, in: writer)
      _ = reader.lookAgain()
      #expect(told.all == EachCommitTests.chain([0, 1, 2, 3, 4]))
      observation.cancel()
    }
  }

  /// The journal in between was deleted: its changes are delivered as one, with its last value.
  @Test func aJournalThatWasMadeShortTwiceIsComparedByItsValues() async {
    await #expect(processExitsWith: .success) {
      let (fixture, told) = (try Fixture(), Told())
      let writer = try fixture.domain()
      try EachCommitTests.set(0, in: writer)
      let reader = try fixture.domain()
      let observation = reader.observe { [told] in told.add($0) }
      try EachCommitTests.set(1, 2, in: writer)
      try writer.compact()
      try EachCommitTests.set(3, 4, in: writer)
      try writer.compact()
      try EachCommitTests.set(5, 6, in: writer)
      _ = reader.lookAgain()
      #expect(told.all == EachCommitTests.chain([0, 4, 5, 6]))
      observation.cancel()
    }
  }

  @Test func aLookWhileTheJournalIsReplacedMergesNothing() async {
    await #expect(processExitsWith: .success) {
      let (fixture, told) = (try Fixture(), Told())
      let writer = try fixture.domain()
      try EachCommitTests.set(0, in: writer)
      let reader = try fixture.domain()
      let observation = reader.observe { [told] in told.add($0) }
      try EachCommitTests.set(1, 2, 3, in: writer)
      let page = try #require(writer.withState { $0.files }).page
      try page.beginReplacing()
      #expect(page.content == nil)
      _ = reader.value(forKey: "key")
      try EachCommitTests.set(4, 5, in: writer)
      _ = reader.lookAgain()
      #expect(told.all == EachCommitTests.chain([0, 1, 2, 3, 4, 5]))
      observation.cancel()
    }
  }

  @Test func aNewDomainIsToldFromNothing() async {
    await #expect(processExitsWith: .success) {
      let (fixture, told) = (try Fixture(), Told())
      try EachCommitTests.set(1, 2, in: try fixture.domain())
      let reader = try fixture.domain { $0.isFromNothing = true }
      _ = reader.lookAgain()
      let observation = reader.observe { [told] in told.add($0) }
      _ = reader.lookAgain()
      #expect(told.all == EachCommitTests.chain([nil, 1, 2]))
      observation.cancel()
    }
  }

  /// A domain that was opened for one value has read the index of a long journal, but no values.
  @Test func anObserverOfALongJournalGetsChangesOnly() async {
    await #expect(processExitsWith: .success) {
      let (fixture, told) = (try Fixture(), Told())
      let writer = try fixture.domain()
      try writer.apply((0..<400).map { ("key \($0)", .string(String(repeating: "x", count: 100))) })
      try EachCommitTests.set(0, in: writer)
      try writer.compact()
      let reader = try fixture.domain { $0.isSparing = true }
      let observation = reader.observe { [told] in told.add($0) }
      try EachCommitTests.set(1, 2, in: writer)
      _ = reader.lookAgain()
      reader.forgetVerification()
      try EachCommitTests.set(3, in: writer)
      _ = reader.lookAgain()
      #expect(told.all == EachCommitTests.chain([0, 1, 2, 3]))
      observation.cancel()
    }
  }

  /// A commit causes no file system event: if a writer stops before it, the watch has to look again.
  @Test(.timeLimit(.minutes(60))) func aCommitLongAfterTheRecordIsTold() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      let writer = try fixture.domain()
      try writer.set(.integer(1), forKey: "key")
      let reader = try fixture.domain()
      let seen = DispatchSemaphore(value: 0)
      let observation = reader.observe { if $0.keys.contains(where: { $0.new == .integer(2) }) { seen.signal() } }
      ChangeWatch.start()
      let (files, journal, image) = writer.withState { ($0.files, $0.current, $0.image) }
      guard let files, let journal else { preconditionFailure("no journal") }
      var bytes: [UInt8] = []
      JournalRecord(sequence: image.sequence + 1, entries: [.set(.init("key"), .integer(2))]).append(
        to: &bytes, salt: journal.header.salt)
      try files.lock.take(within: 60_000)
      try journal.file.write(bytes, at: image.position)
      // Much longer than the watch looks again after an event.
      try await Task.sleep(for: .seconds(2))
      try files.page.commit(
        .init(epoch: journal.header.epoch, length: UInt64(image.position + bytes.count), byteCount: UInt64(image.byteCount)))
      files.lock.release()
      precondition(seen.wait(timeout: .now() + 300) == .success, "the commit was never told")
      observation.cancel()
    }
  }

  @Test(.timeLimit(.minutes(60))) func manyWritersAreCountedExactly() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      let reader = try fixture.domain { $0.isCreating = false }
      let count = Atomic(0)
      let last = Mutex<PropertyListValue?>(nil)
      let observation = reader.observe { change in
        for key in change.keys {
          precondition(last.withLock { $0 } == key.old, "a gap before \(String(describing: key.new))")
          last.withLock { $0 = key.new }
          count.add(1, ordering: .relaxed)
        }
      }
      ChangeWatch.start()
      let writers = try (0..<4).map { _ in try fixture.domain { $0.timeout = 300_000 } }
      DispatchQueue.concurrentPerform(iterations: 4) { writer in
        for number in 0..<300 {
          try? writers[writer].set(.integer(Int64(writer * 1000 + number)), forKey: "key")
        }
      }
      let deadline = Deadline(milliseconds: 300_000)
      while count.load(ordering: .relaxed) < 1200, !deadline.hasPassed { try await Task.sleep(for: .milliseconds(10)) }
      // Wait for a surplus change, which would arrive soon.
      try await Task.sleep(for: .milliseconds(200))
      let told = count.load(ordering: .relaxed)
      precondition(told == 1200, "\(told) of 1200 changes")
      observation.cancel()
    }
  }
}
