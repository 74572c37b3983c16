import CofferTesting
import Foundation
import Testing

@testable import SecretMemory

@Suite(.serialized) struct SecretTests {
  @Test(arguments: [0, 1, 63, 64, 65, 256, 257, 4096, 4097, 1 << 20])
  func bytesComeBack(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let secret = try Secret(testing: bytes)
    let copy = try secret.duplicate()
    let isEqual = secret.isEqual(to: copy)
    #expect(isEqual)
    #expect(secret.count == count)
    #expect(copy.copyIntoUnprotectedBytes() == bytes)
  }

  @Test func newMemoryIsZeroAlsoAfterUse() throws {
    for _ in 0..<3 {
      for count in [64, 256, 4096, 10_000] {
        let fresh = try Secret(count: count).copyIntoUnprotectedBytes()
        #expect(fresh.allSatisfy { $0 == 0 })
        _ = try Secret(testing: [UInt8](repeating: 0xAA, count: count))
      }
    }
  }

  @Test func lengthsDiffer() throws {
    let short = try Secret(testing: "abc")
    let long = try Secret(testing: "abcd")
    let other = try Secret(testing: "abd")
    let results = (short.isEqual(to: long), short.isEqual(to: other))
    #expect(results == (false, false))
  }

  @Test func truncationWipes() throws {
    var secret = try Secret(testing: "0123456789")
    secret.truncate(to: 4)
    #expect(secret.copyIntoUnprotectedBytes() == Array("0123".utf8))
    let rest = unsafe secret.withPointer { base in (4..<10).map { unsafe base[$0] } }
    #expect(rest == [0, 0, 0, 0, 0, 0])
  }

  @Test func partlyFilledSecretHasTheLengthThatWasWritten() throws {
    let secret = try Secret(capacity: 100) { bytes in
      bytes.storeBytes(of: 0x41, as: UInt8.self)
      return 1
    }
    #expect(secret.copyIntoUnprotectedBytes() == [0x41])
  }

  // The count of locked bytes is the process', so what compares it has a process of its own.

  @Test func failedFillGivesTheMemoryBack() async {
    await #expect(processExitsWith: .success) {
      struct Failure: Error {}
      let before = LockedMemory.usage
      for _ in 0..<100 {
        #expect(throws: Failure.self) { _ = try Secret(capacity: 100_000) { _ in throw Failure() } }
      }
      #expect(LockedMemory.usage == before)
    }
  }

  @Test func tooLargeIsAnError() {
    let refusal = code { _ = try Secret(count: Secret.maximumCount + 1) }
    #expect(refusal == .secretTooLarge)
  }

  @Test func randomSecretsDiffer() throws {
    let first = try Secret.random(count: 32)
    let second = try Secret.random(count: 32)
    let areEqual = first.isEqual(to: second)
    #expect(!areEqual)
  }

  @Test func manySecretsAreLockedAndGoBack() async {
    await #expect(processExitsWith: .success) {
      final class Box {
        let secret: Secret
        init() throws { secret = try Secret(count: 4096) }
      }
      let before = LockedMemory.usage
      var boxes = try (0..<200).map { _ in try Box() }
      #expect(LockedMemory.usage.lockedBytes - before.lockedBytes >= 100 * 4096)
      #expect(LockedMemory.usage.unlockedBytes == before.unlockedBytes)
      boxes = []
      // Slabs of small slots are kept for the next secrets.
      let after = LockedMemory.usage
      boxes = try (0..<200).map { _ in try Box() }
      #expect(LockedMemory.usage == after)
      #expect(boxes.count == 200)
    }
  }

  @Test func threadsShareTheArena() async throws {
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<500 {
            let mark = UInt8(truncatingIfNeeded: task * 31 + round)
            guard let secret = try? Secret(testing: [UInt8](repeating: mark, count: 200)),
              secret.copyIntoUnprotectedBytes().allSatisfy({ $0 == mark })
            else { return false }
          }
          return true
        }
      }
      for await isIntact in group { #expect(isIntact) }
    }
  }

  // The access ends the process, so it runs in one of its own.

  @Test func memoryIsGuarded() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      let secret = try Secret(testing: [UInt8](repeating: 1, count: 4096 * 4))
      unsafe secret.withPointer { base in
        var sum = 0
        for offset in 0..<(1 << 20) { unsafe sum += Int(base[offset]) }
        print(sum)
      }
    }
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      let secret = try Secret(testing: [UInt8](repeating: 1, count: 4096 * 4))
      unsafe secret.withPointer { base in
        var sum = 0
        for offset in 0..<(1 << 20) { unsafe sum += Int(base[-offset]) }
        print(sum)
      }
    }
  }

  /// The address sanitizer puts an mlock of its own in place, which does nothing and always succeeds.
  static let locksForReal = unsafe dlsym(nil, "__asan_init") == nil

  @Test(.enabled(if: locksForReal)) func memoryThatCannotBeLockedIsRefused() async {
    await #expect(processExitsWith: .success) {
      try withLimitedLocking {
        guard code({ _ = try Secret(count: 4096 * 64) }) == .memoryNotLockable else { exit(1) }
        LockedMemory.policy = .allowSwap
        let secret = try Secret(testing: [UInt8](repeating: 7, count: 4096 * 64))
        guard secret.count == 4096 * 64, LockedMemory.usage.unlockedBytes == 4096 * 64 else { exit(2) }
        LockedMemory.policy = .required
        guard code({ _ = try Secret(count: 4096 * 64) }) == .memoryNotLockable else { exit(3) }
      }
    }
  }
}

/// Runs `body` as a user who may lock 64 KiB, the limit of older systems. Only for a process of its own.
private func withLimitedLocking(_ body: () throws -> Void) throws {
  var limit = rlimit(rlim_cur: 65_536, rlim_max: 65_536)
  guard unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0 else { exit(10) }
  // The superuser's limits do not bind.
  if geteuid() == 0 { guard setuid(65_534) == 0 else { exit(11) } }
  try body()
}
