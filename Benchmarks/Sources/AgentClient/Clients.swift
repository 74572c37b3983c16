import BenchmarkKit
import Glibc
import Synchronization

/// Threads, each with its own connection.
enum Clients {
  struct Result: Sendable {
    let count: Int
    /// In nanoseconds.
    let median: Double
  }

  private final class Body {
    let run: () throws -> Void
    init(_ run: @escaping () throws -> Void) { self.run = run }
  }

  static func run(_ count: Int, _ seconds: Double, _ work: @escaping @Sendable (Int) throws -> Work) -> [Result] {
    let results = Shared()
    let threads = (0..<count).map { number in
      start {
        let work = try work(number)
        for _ in 0..<10 { try work.one() }
        var samples = Samples()
        let deadline = ContinuousClock.now + .milliseconds(Int(seconds * 1000))
        while ContinuousClock.now < deadline { try samples.measure { try work.one() } }
        results.all.withLock { $0.append(Result(count: samples.values.count, median: samples.median)) }
      }
    }
    for thread in threads { pthread_join(thread, nil) }
    return results.all.withLock { $0 }
  }

  private final class Shared: Sendable {
    let all = Mutex<[Result]>([])
  }

  private static func start(_ run: @escaping () throws -> Void) -> pthread_t {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        do {
          try Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
        } catch {
          let line = Array("agent-client: \(error)\n".utf8)
          _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
          exit(1)
        }
        return nil
      }, Unmanaged.passRetained(Body(run)).toOpaque())
    return thread
  }
}
