import Glibc
import Synchronization

/// How many of sixteen threads that start at the same moment get `true`.
func nilsOfThreads(_ isWrong: @escaping @Sendable () -> Bool) -> Int {
  final class Race: Sendable {
    let waiting = Atomic<Int>(0)
    let wrong = Atomic<Int>(0)
    let isWrong: @Sendable () -> Bool
    init(_ isWrong: @escaping @Sendable () -> Bool) { self.isWrong = isWrong }

    func run() {
      waiting.add(1, ordering: .sequentiallyConsistent)
      while waiting.load(ordering: .sequentiallyConsistent) < 16 { sched_yield() }
      if isWrong() { wrong.add(1, ordering: .sequentiallyConsistent) }
    }
  }
  let race = Race(isWrong)
  let threads = (0..<16).map { _ -> pthread_t in
    var thread = pthread_t()
    let race = unsafe Unmanaged.passRetained(race).toOpaque()
    let result = unsafe pthread_create(
      &thread, nil,
      { argument in
        unsafe Unmanaged<Race>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, race)
    precondition(result == 0)
    return thread
  }
  for thread in threads { pthread_join(thread, nil) }
  return race.wrong.load(ordering: .sequentiallyConsistent)
}
