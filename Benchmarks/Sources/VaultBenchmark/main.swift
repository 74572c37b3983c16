import BenchmarkKit

let arguments = try Arguments(known: ["--sizes", "--directory", "--rounds", "--puts"])
let directory = try arguments.directory()
let rounds = arguments.integer("--rounds", default: 5000)
let puts = arguments.integer("--puts", default: 300)

let measurements = try arguments.sizes(default: [1, 1000, 100_000]).map { size in
  let sample = try SampleVault(itemCount: size, in: directory)
  return try Measurement(sample, in: directory, rounds: rounds, puts: puts)
}

private func pair(_ samples: Samples, _ share: Double = 0.99) -> String {
  "\(format(nanoseconds: samples.median)) / \(format(nanoseconds: samples.percentile(share)))"
}

private func table(_ measurements: [Measurement]) -> MarkdownTable {
  var table = MarkdownTable(["vault of this many items"] + measurements.map { "\($0.sample.itemCount)" })
  func row(_ name: String, _ cell: (Measurement) -> String) { table.append([name] + measurements.map(cell)) }
  row("open (key file), p50 / p99") { pair($0.open) }
  row("open, one look-up, close, p50 / p99") { pair($0.openAndGet) }
  row("look-up of item and secret, p50 / p99") { pair($0.lookUp) }
  row("the same by two calls, p50 / p99") { pair($0.lookUpInTwo) }
  row("proven absence, p50 / p99") { pair($0.absence) }
  row("durable put, p50 / p99") { pair($0.put) }
  row("bare SQLite insert beside it, p50 / p99") { pair($0.bareInsert) }
  row("put / bare insert, p50") { threeDigits($0.put.median / $0.bareInsert.median) }
  row("durable update: no version, ten versions, p50") {
    "\(format(nanoseconds: $0.update.median)), \(format(nanoseconds: $0.updateWithVersions.median))"
  }
  row("update with ten versions / without, p50") { threeDigits($0.updateWithVersions.median / $0.update.median) }
  row("history of an item with ten versions, p50 / p99") { pair($0.history) }
  row("history / look-up of item and secret, p50") { threeDigits($0.history.median / $0.lookUp.median) }
  row("list all, and for each item") {
    "\(format(nanoseconds: $0.list.median)), \(format(nanoseconds: $0.list.median / Double($0.sample.itemCount)))"
  }
  row("verify all, and for each item") {
    "\(format(nanoseconds: $0.verify.median)), \(format(nanoseconds: $0.verify.median / Double($0.sample.itemCount)))"
  }
  row("load in batches of 10,000, and for each item") {
    "\(format(nanoseconds: $0.sample.loadTime)), \(format(nanoseconds: $0.sample.loadTime / Double($0.sample.itemCount)))"
  }
  row("peak memory: look-ups, list, verify") { "\($0.memory.lookUp), \($0.memory.list), \($0.memory.verify)" }
  return table
}

print("In process, release build. \(Machine.description)\n")
print(table(measurements))
