import BenchmarkKit
import Glibc

let arguments = try Arguments(known: ["--coffer", "--sizes", "--directory", "--rounds", "--of"])
guard let coffer = arguments["--coffer"] else { throw BenchmarkError("--coffer PATH is missing") }
let directory = try arguments.directory()
if arguments["--of"] == "upkeep" {
  try Walks.measure(
    arguments.sizes(default: [100_000]), rounds: arguments.integer("--rounds", default: 5), CofferVaults(coffer, in: directory))
  exit(0)
}
let isOfSettings = arguments["--of"] == "settings"
let sizes = arguments.sizes(default: isOfSettings ? [10, 1000, 100_000] : [10, 1000, 10_000, 100_000])
let rounds = arguments.integer("--rounds", default: 51)

let vaults = try CofferVaults(coffer, in: directory)
var peers = Peers(in: directory)
var stores = try SettingsStores(coffer, in: directory)

// The first keyring entries are cheap and later ones are not, so the sizes are filled and measured one after another.
let starts = [
  Track("`/bin/true`") { _ in Command(["/bin/true"]) },
  Track("`coffer --version`") { _ in Command([coffer, "--version"]) },
]
let runs =
  isOfSettings
  ? []
  : [
    Track("`env true`") { _ in Command(["env", "true"]) },
    Track("`coffer run --no-masking -- true`, vault of 10", try vaults.run(isMasked: false)),
    Track("`coffer run -- true`, vault of 10", try vaults.run(isMasked: true)),
    Track("`coffer secret get`, vault of 10", try vaults.contender(itemCount: 10).get),
    Track("`coffer credential git get`, vault of 10", try vaults.gitGet()),
  ]
// Text of base64 holds more beginnings of masked forms than others do.
let output = (path: "\(directory)/output", mebibytes: 256)
if !isOfSettings {
  try Command(["/bin/sh", "-c", "base64 /dev/urandom | head -c \(output.mebibytes << 20) >'\(output.path)'"]).run()
}
let outputs = try isOfSettings ? [] : outputTracks()

private func outputTracks() throws -> [Track] {
  let cat = ["cat", output.path]
  let (plain, masked) = (try vaults.run(cat, isMasked: false), try vaults.run(cat, isMasked: true))
  let size = "\(output.mebibytes) MiB in a pipe"
  return [
    Track("`env cat`, \(size)") { _ in Command(["env"] + cat).piped },
    Track("`coffer run --no-masking -- cat`, \(size)") { plain($0).piped },
    Track("`coffer run -- cat`, \(size)") { masked($0).piped },
  ]
}

let agents = try SSHAgents(coffer, in: directory)
let signatures = isOfSettings ? [] : try agents.tracks()
let passphraseGet = Track("`coffer secret get`, passphrase vault of 10", try vaults.passphraseGet())
var gets: [[Track]] = []
var puts: [[Track]] = []
for size in sizes {
  let contenders =
    isOfSettings
    ? try stores.contenders(keyCount: size)
    : [try vaults.contender(itemCount: size), try vaults.agentContender(itemCount: size)]
      + (try peers.contenders(itemCount: size))
  let get = contenders.map { Track($0.name, itemCount: size, $0.get) }
  let put = contenders.compactMap { contender in contender.put.map { Track(contender.name, itemCount: size, $0) } }
  // Each round runs each of them once, so that a busy moment of the machine affects all alike.
  for round in 0..<rounds {
    for track in starts + runs + signatures + get + put { try track.run(round: round) }
    if !isOfSettings, round % 10 == 0 { try passphraseGet.run(round: round) }
  }
  gets.append(get)
  puts.append(put)
}

for round in 0..<3 { for track in outputs { try track.run(round: round) } }
if !isOfSettings {
  try vaults.stopAgents(sizes)
  try agents.stop()
  unlink(output.path)
}

private func cell(_ samples: Samples) -> String {
  "\(threeDigits(samples.median / 1e6)) / \(threeDigits(samples.percentile(0.9) / 1e6))"
}

private func table(_ title: String, _ columns: [[Track]]) -> MarkdownTable {
  var table = MarkdownTable([title] + sizes.map { "\($0) \(isOfSettings ? "keys" : "items")" })
  for name in columns.first.map({ $0.map(\.name) }) ?? [] {
    table.append([name] + columns.map { column in column.first { $0.name == name }.map { cell($0.samples) } ?? "–" })
  }
  return table
}

print("Whole processes, from posix_spawn to the end, p50 / p90 in ms. \(Machine.description)\n")
var starting = MarkdownTable(["start", "ms"])
for track in starts + runs + signatures + outputs { starting.append([track.name, cell(track.samples)]) }
if !isOfSettings {
  starting.append([passphraseGet.name, cell(passphraseGet.samples)])
  let withoutKDF = gets[0][0].samples.median
  starting.append(["of which the key derivation", threeDigits((passphraseGet.samples.median - withoutKDF) / 1e6)])
}
print(starting, table("get", gets), table("put", puts), separator: "\n\n")
for line in peers.missing + stores.missing { print("\n\(line)") }
