import CofferFiles
import CofferTesting
import Foundation
import Testing
import VaultCore

@testable import CofferSync
@testable import VaultSync

/// The messages by which a device is added, over an engine.
@Suite struct ExchangeTests {
  private struct Stop: Error {}

  /// A value of another thread.
  private final class Passed<Value>: @unchecked Sendable {
    private let condition = NSCondition()
    private var passed: Value?

    func pass(_ value: Value) {
      condition.withLock {
        passed = value
        condition.broadcast()
      }
    }

    func wait() -> Value {
      condition.withLock {
        while true {
          if let passed { return passed }
          condition.wait()
        }
      }
    }
  }

  private let log = MemoryEngine()
  private let mailbox = MemoryEngine()

  private func exchange() -> Exchange { Exchange(mailbox, until: Deadline(milliseconds: 600_000)) }

  /// An exchange that ends at the first message that is not there.
  private func impatient() -> Exchange {
    Exchange(mailbox, until: Deadline(milliseconds: 600_000)) { throw Stop() }
  }

  private func founder() throws -> Replica {
    var replica = try Replica(founding: Machine.identity(0), random: [UInt8](repeating: 1, count: 32), ValueKey())
    try replica.synchronise(with: log) { _ in }
    return replica
  }

  /// - Parameter typed: The number that the person types, made of the right one.
  /// - Returns: The welcome of the new device, and the error of the member.
  private func exchange(typing typed: (UInt64) -> UInt64) throws -> (joined: Result<Welcome, any Error>, refused: SyncError?) {
    let (number, joined, mailbox, log) = (Passed<UInt64>(), Passed<Result<Welcome, any Error>>(), mailbox, log)
    let thread = Thread {
      let joiner = Exchange(mailbox, until: Deadline(milliseconds: 600_000))
      joined.pass(Result { try joiner.join(Machine.identity(1), posted: {}, show: number.pass) })
    }
    thread.start()
    var owner = try founder()
    var refused: SyncError?
    do {
      try exchange().add(owner, as: .member) { record in
        #expect(record.name == "device 1" && record.role == .member)
        return typed(number.wait())
      } add: { record in
        owner.add(record)
        try owner.synchronise(with: log) { _ in }
        return try #require(Welcome(owner))
      }
    } catch let error as SyncError {
      refused = error
    }
    return (joined.wait(), refused)
  }

  @Test func aDeviceIsAddedByItsNumber() throws {
    let (joined, refused) = try exchange { $0 }
    let replica = try Replica(joining: Machine.identity(1), joined.get(), log, ValueKey())
    #expect(refused == nil && replica.isMember && replica.membership.devices.count == 2)
  }

  /// The new device learns that it was not added, and waits no longer.
  @Test func aWrongNumberEndsBothSides() throws {
    let (joined, refused) = try exchange { ($0 + 1) % 100_000_000 }
    #expect(refused == SyncError(.wrongNumber))
    #expect(throws: SyncError(.exchangeEnded)) { try joined.get() }
    #expect(log.count == 1)
  }

  @Test func aCodeHasOneForm() throws {
    let code = Exchange.code()
    #expect(code.utf8.count == 9 && Exchange.mailbox(code) != nil)
    #expect(Exchange.mailbox(code.uppercased().replacing("-", with: " ")) == Exchange.mailbox(code))
    for other in ["", "bcdf-ghj", "bcdf-ghja", "bcdf-ghjkk", "bcdfghj1"] { #expect(Exchange.mailbox(other) == nil) }
  }

  /// A second device that uses the code does not come between.
  @Test func aCodeIsUsedOnce() throws {
    #expect(throws: Stop.self) { try impatient().join(Machine.identity(1), posted: {}, show: { _ in }) }
    #expect(throws: SyncError(.codeTaken)) { try impatient().join(Machine.identity(2), posted: {}, show: { _ in }) }
    let founder = try founder()
    #expect(throws: Stop.self) { try impatient().add(founder, as: .member, ask: { _ in 0 }, add: { _ in throw Stop() }) }
    #expect(throws: SyncError(.codeTaken)) {
      try impatient().add(founder, as: .member, ask: { _ in 0 }, add: { _ in throw Stop() })
    }
  }

  /// A device that does not join must be no member.
  @Test func aDeviceThatHasEndedIsNotAdded() throws {
    let (ended, founder, mailbox) = (Passed<UInt64>(), try founder(), mailbox)
    let thread = Thread {
      var number: UInt64?
      let joiner = Exchange(mailbox, until: Deadline(milliseconds: 600_000)) { if number != nil { throw Stop() } }
      _ = try? joiner.join(Machine.identity(1), posted: {}, show: { number = $0 })
      if let number { ended.pass(number) }
    }
    thread.start()
    #expect(throws: SyncError(.joinEnded)) {
      try exchange().add(founder, as: .member) { _ in
        let number = ended.wait()
        mailbox.log = []
        return number
      } add: { _ in
        Issue.record("it was added")
        throw Stop()
      }
    }
  }

  @Test func waitingEnds() throws {
    let ended = Exchange(mailbox, until: Deadline(milliseconds: 0))
    #expect(throws: SyncError(.noAnswer)) { try ended.join(Machine.identity(1), posted: {}, show: { _ in }) }
  }

  /// Messages of a program between the two.
  @Test func otherMessagesAreRefused() throws {
    let founder = try founder()
    let other = MemoryEngine()
    other.log = [[UInt8](repeating: 1, count: 31)]
    let member = Exchange(other, until: Deadline(milliseconds: 600_000)) { throw Stop() }
    #expect(throws: SyncError(.exchangeRefused)) {
      try member.add(founder, as: .member, ask: { _ in 0 }, add: { _ in throw Stop() })
    }
    other.log = [[UInt8](repeating: 1, count: 32)]
    #expect(throws: Stop.self) { try member.add(founder, as: .member, ask: { _ in 0 }, add: { _ in throw Stop() }) }
  }
}
