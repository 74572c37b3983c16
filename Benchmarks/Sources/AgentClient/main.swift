import BenchmarkKit
import Coffer
import Glibc
import Synchronization
import VaultCore

// A program that an app's manifest names: what it asks for, the agent gives it as to any app.
//   agent-client SOCKET get|get-by-name|put|echo CLIENTS SECONDS ITEMS SEED
// Each client is a thread with a connection of its own. Prints how many were done, in how many seconds, and the median of one in us.

let words = CommandLine.arguments
guard words.count == 7, let clients = Int(words[3]), let seconds = Double(words[4]), let items = Int(words[5]),
  let seed = UInt64(words[6])
else { throw BenchmarkError("usage: agent-client SOCKET get|get-by-name|put|echo CLIENTS SECONDS ITEMS SEED") }
let (socket, operation) = (words[1], words[2])

struct Result: Sendable {
  var count = 0
  var median = 0.0
}

let results = Mutex<[Result]>([])
let start = ContinuousClock.now

@Sendable func measure(_ client: Int) throws {
  var samples = Samples()
  let work = try Work(operation, socket, items: items, seed: seed &* 1000 &+ UInt64(client))
  for _ in 0..<10 { try work.one() }
  let deadline = ContinuousClock.now + .milliseconds(Int(seconds * 1000))
  var count = 0
  while ContinuousClock.now < deadline {
    try samples.measure { try work.one() }
    count += 1
  }
  results.withLock { $0.append(Result(count: count, median: samples.median)) }
}

var threads: [pthread_t] = []
for client in 0..<clients {
  var thread = pthread_t()
  let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
  number.initialize(to: client)
  pthread_create(
    &thread, nil,
    { argument in
      do {
        try measure(argument!.assumingMemoryBound(to: Int.self).pointee)
      } catch {
        fputs("agent-client: \(error)\n", stderr_)
        exit(1)
      }
      return nil
    }, number)
  threads.append(thread)
}
for thread in threads { pthread_join(thread, nil) }
let all = results.withLock { $0 }
let medians = all.map(\.median).sorted()
print(all.reduce(0) { $0 + $1.count }, seconds, medians[medians.count / 2] / 1000)
