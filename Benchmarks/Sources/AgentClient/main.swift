import BenchmarkKit
import Glibc

// A program named in an app's manifest, which the agent serves as any app.
//   agent-client SOCKET get|get-by-name|put|echo CLIENTS SECONDS ITEMS SEED
// Prints the number of operations, the seconds they took, and the median time of one in us.

let words = CommandLine.arguments
guard words.count == 7, let clients = Int(words[3]), let seconds = Double(words[4]), let items = Int(words[5]),
  let seed = UInt64(words[6])
else { throw BenchmarkError("usage: agent-client SOCKET get|get-by-name|put|echo CLIENTS SECONDS ITEMS SEED") }
let (socket, operation) = (words[1], words[2])
let results = Clients.run(clients, seconds) { client in
  try Work(operation, socket, items: items, seed: seed &* 1000 &+ UInt64(client))
}
let medians = results.map(\.median).sorted()
print(results.reduce(0) { $0 + $1.count }, seconds, medians[medians.count / 2] / 1000)
