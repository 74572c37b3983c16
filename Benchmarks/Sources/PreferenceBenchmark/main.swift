import BenchmarkKit
import Glibc
import Preferences
import PropertyLists

func now() -> Double {
  var time = timespec()
  clock_gettime(getenv("CPU") != nil ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}
func each(_ name: String, _ count: Int, _ body: (Int) throws -> Void) rethrows {
  let start = now()
  for index in 0..<count { try body(index) }
  print(name, ((now() - start) / Double(count)).rounded(), "ns")
}

let root = "/tmp/coffer-benchmarks/prefs"
_ = system("rm -rf \(root)")
for size in [10, 1000, 100_000] {
  let name = try DomainName("bench\(size)")
  let directory = PreferenceDirectory(root)
  let domain = FileDomain(name, in: directory)
  let keys = (0..<size).map { "key.\($0)" }
  let start = now()
  try domain.apply(keys.map { ($0, .integer(7)) })
  print("--", size, "bulk", (now() - start) / 1e6, "ms")
  try each("value", 1_000_000) { _ = domain.value(forKey: keys[$0 % size]) }
  try each("stamp", 1_000_000) { _ in _ = domain.stamp }
  try each("set", 100_000) { try domain.set(.integer(Int64($0)), forKey: keys[$0 % size]) }
  try each("set+get", 100_000) {
    try domain.set(.integer(Int64(-$0)), forKey: keys[$0 % size])
    _ = domain.value(forKey: keys[$0 % size])
  }
  try each("durable", 300) {
    try domain.set(.integer(Int64($0 + 5)), forKey: keys[$0 % size])
    try domain.synchronize()
  }
  let t = now()
  try domain.checkpoint()
  print("checkpoint", (now() - t) / 1e6, "ms")
  try each("open", 5) { _ in _ = FileDomain(name, in: directory).value(forKey: "key.1") }
}
let fill = FileDomain(try DomainName("fill"), in: PreferenceDirectory(root))
let t = now()
for index in 0..<10_000 { try fill.set(.integer(Int64(index)), forKey: "key.\(index)") }
print("fill 10000", (now() - t) / 1e6, "ms")
