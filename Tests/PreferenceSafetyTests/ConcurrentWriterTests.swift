import Children
import CofferPreferences
import CofferPropertyLists
import Testing

/// Processes that write at the same time.
@Suite(.serialized) struct ConcurrentWriterTests {
  private let keys = isLong ? 5000 : 1250

  private func finish(_ children: [Child]) {
    for child in children {
      #expect(child.lines() == ["ok"])
      child.wait()
    }
  }

  @Test(arguments: [false, true]) func fourWritersOfKeysOfTheirOwnLoseNone(isUnmapped: Bool) throws {
    let place = Place()
    let reader = try place.domain()
    // Half of them do not use shared memory: both kinds work together.
    finish(
      (0..<4).map { writer in
        let commands = ["fill w\(writer) \(keys)"]
        return isUnmapped && writer % 2 == 0
          ? place.writer("timeout", "60000", "unmapped", commands: commands)
          : place.writer("timeout", "60000", commands: commands)
      })
    for domain in [reader, try place.domain()] {
      let values = domain.values()
      #expect(values.count == 4 * keys)
      for writer in 0..<4 {
        for number in 0..<keys where values["w\(writer)-\(number)"]?.integer != Int64(number) {
          Issue.record("w\(writer)-\(number)")
        }
      }
    }
  }

  @Test func fourCountersMakeOneSum() throws {
    let place = Place()
    finish((0..<4).map { _ in place.writer("timeout", "60000", commands: ["count \(keys)"]) })
    #expect(try place.domain().value(forKey: "counter") == .integer(Int64(4 * keys)))
  }

  /// The control.
  @Test func foundationLosesSome() {
    let place = Place()
    finish((0..<4).map { Foundation.start(in: place, ["fill w\($0) 40"]) })
    #expect((Foundation.values(in: place)?.count ?? 0) < 160)
    finish((0..<4).map { _ in Foundation.start(in: place, ["count 40"]) })
    #expect((Foundation.values(in: place)?["counter"]?.integer ?? 0) < 160)
  }
}
