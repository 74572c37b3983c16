import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import CofferSync
@testable import SyncSimulation

/// A space of 4,000 devices.
@Suite struct LargeSpaceTests {
  /// Devices that are 30 ms away from their engine, and write 1.2 changes a second in all. Times are in milliseconds, and those of a model:
  /// the wait after another entry is the one that devices have.
  private struct Crowd {
    /// From a device to the engine, or back.
    private static let way = 15.0
    /// The engine puts an entry on its disk.
    private static let service = 5.0
    private static let perSecond = 1.2

    var random = SeededGenerator(seed: 4000)
    /// When an entry was made, ascending.
    private var made: [Double] = []

    /// - Parameters:
    ///   - seconds: How long they write.
    ///   - sealing: How long it takes to make an entry again, each time.
    ///   - every: Each so-many-th entry takes `other` to make.
    /// - Returns: How long the appends took, of the first kind and of the other one.
    mutating func run(seconds: Double, sealing: Double, every: Int, other: Double) -> (some: [Double], others: [Double]) {
      struct Attempt {
        let start: Double
        var at: Double
        var seen = 0
        var tries = 0
        let sealing: Double
        let isOther: Bool
        var isReading = true
      }
      var waiting: [Attempt] = []
      var (now, number) = (0.0, 0)
      while now < seconds * 1000 {
        now -= log(Double.random(in: .ulpOfOne..<1, using: &random)) * 1000 / Self.perSecond
        let isOther = number % every == every - 1
        waiting.append(Attempt(start: now, at: now + Self.way, sealing: isOther ? other : sealing, isOther: isOther))
        number += 1
      }
      waiting.sort { $0.at > $1.at }
      var (some, others): ([Double], [Double]) = ([], [])
      // In the order in which the calls reach the engine.
      while var attempt = waiting.popLast() {
        if attempt.isReading {
          attempt.seen = made.count
          attempt.at += 2 * Self.way + attempt.sealing
          attempt.isReading = false
        } else if attempt.seen == made.count {
          made.append(attempt.at)
          let time = attempt.at + Self.service + Self.way - attempt.start
          if attempt.isOther { others.append(time) } else { some.append(time) }
          continue
        } else {
          attempt.tries += 1
          let pause = Backoff.afterContention(attempt.tries, random: Double.random(in: 0..<1, using: &random))
          attempt.at += 2 * Self.way + pause
          attempt.isReading = true
        }
        waiting.insert(attempt, at: waiting.firstIndex { $0.at < attempt.at } ?? waiting.count)
      }
      return (some.sorted(), others.sorted())
    }
  }

  @Test func appendsOfManyDevicesWaitLittle() {
    var crowd = Crowd()
    // An entry with 4,000 keys takes 250 ms to make, which the test below prints.
    let (changes, removals) = crowd.run(seconds: 7200, sealing: 5, every: 80, other: 250)
    let (p50, p99) = (changes[changes.count / 2], changes[changes.count * 99 / 100])
    let middle = removals[removals.count / 2]
    print("4,000 devices: \(changes.count) changes, append p50 \(Int(p50)) ms, p99 \(Int(p99)) ms; removal p50 \(Int(middle)) ms")
    #expect(p99 <= 250 && middle <= 1000 && removals.count > 100)
  }

  /// One entry removes a device and gives the others the next key, and each of them proves that all have it.
  @Test func aRemovalAmongThemIsOneEntry() throws {
    let count = 4000
    var space = try Space()
    for number in 1..<count {
      func seed(_ byte: UInt8) throws -> Secret {
        try Secret(testing: [byte, UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 1, count: 29))
      }
      let identity = try DeviceIdentity(signingSeed: seed(1), boxSeed: seed(2), person: "ada", name: "\(number)")
      space.owner.add(identity.record(number == 1 ? .owner : .member))
      if number % 20 == 0 { try space.synchronise(&space.owner) }
    }
    while space.owner.hasMore { try space.synchronise(&space.owner) }
    #expect(space.owner.membership.devices.count == count)
    let removed = try #require(space.owner.membership.devices.values.first { $0.name == "7" })
    let before = space.owner.count
    space.owner.remove([removed.id])
    let start = ContinuousClock.now
    let entry = try #require(try space.owner.nextEntry())
    let made = ContinuousClock.now - start
    #expect(entry.count <= SealedEntry.maximumByteCount)
    let folding = ContinuousClock.now
    try space.owner.fold(entry)
    let folded = ContinuousClock.now - folding
    print("removal among \(count) devices: \(entry.count) bytes, made in \(made), proven in \(folded)")
    #expect(space.owner.count == before + 1 && space.owner.membership.devices.count == count - 1 && space.owner.epoch == 1)
  }
}
