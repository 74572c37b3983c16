import Foundation

/// The figures of one contender for one number of keys. Times of single operations are medians over batches.
struct Measurement {
  var read = Samples()
  var readByEight = Samples()
  var set = Samples()
  var setAndGet = Samples()
  var durable = Samples()

  init<Store: Contender & Sendable>(_ type: Store.Type, size: Int, in directory: String) throws {
    let suite = "bench.\(size)"
    let keys = (0..<size).map { "key.\($0)" }
    try Store.fill(suite, Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) }), in: directory)
    let store = try Store(suite, in: directory)
    precondition(store.get(keys[0]) == 1)
    store.synchronize()
    guard size <= Store.largest else {
      try measureSlowly(store, keys)
      return
    }

    let hits = Array(keys.prefix(100))
    for _ in 0..<50 { read.measure(each: 10_000) { $1 &+= store.get(hits[$0 % hits.count]) } }
    try measureThreads(store, hits)
    let batch = Store.self == FoundationDefaults.self ? 20 : 500
    var number = 2
    for _ in 0..<40 {
      set.measure(each: batch) { _, _ in
        number += 1
        store.set(number, keys[number &* 7919 % size])
      }
    }
    for _ in 0..<40 {
      setAndGet.measure(each: batch) { _, sum in
        number += 1
        store.set(number, keys[number &* 7919 % size])
        sum &+= store.get(keys[number &* 7919 % size])
      }
    }
    for _ in 0..<200 {
      number += 1
      durable.measure {
        store.set(number, keys[number &* 7919 % size])
        store.synchronize()
      }
    }
  }

  /// Few samples each, for stores whose operations take time proportional to the number of keys.
  private mutating func measureSlowly(_ store: some Contender, _ keys: [String]) throws {
    for _ in 0..<20 { read.measure(each: 1000) { $1 &+= store.get(keys[$0 % 100]) } }
    for number in 0..<5 {
      set.measure { store.set(number + 2, keys[number]) }
      setAndGet.measure {
        store.set(number + 100, keys[number])
        precondition(store.get(keys[number]) == number + 100)
      }
      durable.measure {
        store.set(number + 200, keys[number])
        store.synchronize()
      }
    }
  }

  /// Eight concurrent threads. Measures the processor time of each read, because there are fewer processors than threads.
  private mutating func measureThreads(_ store: some Contender & Sendable, _ hits: [String]) throws {
    let results = Locked<[Double]>([])
    let threads = (0..<8).map { _ in
      Thread {
        var samples = Samples()
        for _ in 0..<20 { samples.measure(each: 5000, clock: .thread) { $1 &+= store.get(hits[$0 % hits.count]) } }
        results.withLock { $0 += samples.values }
      }
    }
    for thread in threads { thread.start() }
    while !threads.allSatisfy(\.isFinished) { usleep(1000) }
    for value in results.withLock({ $0 }) { readByEight.append(.nanoseconds(value)) }
  }
}

final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value
  init(_ value: Value) { self.value = value }
  func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

extension Samples {
  enum Clock {
    case monotonic
    case thread
  }

  /// Adds one sample: the mean of a batch. `body` adds to a sum, so that the optimiser cannot remove it.
  mutating func measure(each count: Int, clock: Clock = .monotonic, _ body: (Int, inout Int) -> Void) {
    var sum = 0
    let start = Self.now(clock)
    for index in 0..<count { body(index, &sum) }
    let duration = Self.now(clock) - start
    precondition(sum != .min)
    append(.nanoseconds(Double(duration) / Double(count)))
  }

  static func now(_ clock: Clock = .monotonic) -> Int {
    var time = timespec()
    clock_gettime(clock == .thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
