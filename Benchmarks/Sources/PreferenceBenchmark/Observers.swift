import Foundation
import Observation
import PreferenceStore

/// The cost of observers for a thread that sets a value: ten observers of its key, and others of a thousand other keys.
struct Observers {
  var set = Samples()
  /// Times for a wrapper whose ten readers read again after each change.
  var setDrawn = Samples()
  var read = Samples()

  static let keyCount = 1000
  private static let ownCount = 10

  init(_ count: Int) {
    let defaults = PreferenceStore.UserDefaults(suiteName: "bench.observers.\(count)")!
    for number in 0..<Self.keyCount { defaults.set(0, forKey: "key.\(number)") }
    let told = Locked(0)
    // Ten observers observe "key.0", the others share the other keys.
    let names = (0..<count).map { $0 < Self.ownCount ? "key.0" : "key.\(1 + $0 % (Self.keyCount - 1))" }
    let observations = names.map { name in defaults.observe(name) { _ in told.withLock { $0 += 1 } } }
    var number = 0
    for _ in 0..<40 {
      set.measure(each: 200) { _, _ in
        number += 1
        defaults.set(number, forKey: "key.0")
      }
    }
    precondition(told.withLock { $0 } == number * Self.ownCount)
    for observation in observations { observation.cancel() }

    let storages = names.map { AppStorage(wrappedValue: 0, $0, store: defaults) }
    for storage in storages.dropFirst(Self.ownCount) { Self.draw(storage, told) }
    for _ in 0..<40 {
      setDrawn.measure(each: 200) { _, _ in
        for storage in storages.prefix(Self.ownCount) { Self.draw(storage, told) }
        number += 1
        storages[0].wrappedValue = number
      }
      read.measure(each: 10_000) { $1 &+= storages[0].wrappedValue }
    }
  }

  private static func draw(_ storage: AppStorage<Int>, _ told: Locked<Int>) {
    withObservationTracking {
      _ = storage.wrappedValue
    } onChange: {
      told.withLock { $0 += 1 }
    }
  }
}
