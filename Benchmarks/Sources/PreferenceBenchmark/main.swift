import Foundation

guard try !Children.serve(Array(CommandLine.arguments.dropFirst())) else { exit(0) }
let arguments = try Arguments(known: ["--sizes", "--directory"])
let directory = try arguments.directory() + "/preferences"
// The directories of Coffer's and Foundation's files. Foundation reads the variables before main, so the program starts itself
// again.
if ProcessInfo.processInfo.environment["COFFER_HOME"] != directory {
  setenv("COFFER_HOME", directory, 1)
  setenv("HOME", directory, 1)
  setenv("XDG_CONFIG_HOME", directory + "/config", 1)
  var copies = CommandLine.arguments.map { strdup($0) } + [nil]
  execv("/proc/self/exe", &copies)
}
try? FileManager.default.removeItem(atPath: directory)
try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
let sizes = arguments.sizes(default: [10, 1000, 100_000])

func cell(_ samples: Samples) -> String { samples.values.isEmpty ? "–" : format(nanoseconds: samples.median) }

func rows<Store: Contender & Sendable>(_ type: Store.Type) throws -> [(String, [String])] {
  let measured = try sizes.map { try Measurement(type, size: $0, in: directory) }
  let opened = try sizes.map { size in
    var samples = Samples()
    for _ in 0..<(size > 10_000 ? 5 : 15) {
      samples.append(.nanoseconds(try Children.open(Store.name, "bench.\(size)", directory)))
    }
    return samples
  }
  var fill = Samples()
  fill.measure {
    guard let store = try? Store("bench.fill", in: directory) else { return }
    for number in 0..<10_000 { store.set(number, "key.\(number)") }
  }
  let none = sizes.map { _ in "" }
  return [
    ("read, present", measured.map { cell($0.read) }), ("the same, 8 threads", measured.map { cell($0.readByEight) }),
    ("set", measured.map { cell($0.set) }), ("set and get", measured.map { cell($0.setAndGet) }),
    ("durable set", measured.map { cell($0.durable) }), ("open and first value", opened.map { cell($0) }),
    ("fill 10,000 keys", [cell(fill)] + none.dropFirst()),
  ]
}

let bare = try BareFile(in: directory)
let coffer = try rows(Coffer.self)
let foundation = try rows(FoundationDefaults.self)
let sqlite = try rows(SQLiteTable.self)
var table = MarkdownTable(
  ["number of keys"] + [Coffer.name, FoundationDefaults.name, SQLiteTable.name].flatMap { name in sizes.map { "\(name) \($0)" } })
for index in coffer.indices { table.append([coffer[index].0] + coffer[index].1 + foundation[index].1 + sqlite[index].1) }
let observers = [10, 1000, 10_000].map { ($0, Observers($0)) }
var observerTable = MarkdownTable(["observers, of 1,000 keys"] + observers.map { "\($0.0)" })
observerTable.append(["set a key with ten of them"] + observers.map { cell($0.1.set) })
observerTable.append(["set by `@AppStorage`, ten readers look again"] + observers.map { cell($0.1.setDrawn) })
observerTable.append(["read by `@AppStorage`"] + observers.map { cell($0.1.read) })
let latencies = try Children.latencies(1000)

print("In process, release build. \(Machine.description)\n")
print(table)
print("\n\(observerTable)")
print(
  "\nA bare flock, pwrite and unlock of a record takes \(format(nanoseconds: bare.write.median)), "
    + "with fdatasync \(format(nanoseconds: bare.durable.median)).")
print(
  "\nUntil an observer in another process is told: p50 \(format(nanoseconds: latencies.median)), "
    + "p99 \(format(nanoseconds: latencies.percentile(0.99))).")
