import BenchmarkKit
import CofferStorage
import Glibc
import VaultCore
import VaultUpkeep

/// The figures for one size of vault.
struct Measurement {
  /// The size of a row of a sample vault: identifiers, header, and two sealed fields of the first bucket.
  private static let rowByteCount = 16 + 16 + 16 + 168 + 168

  let sample: SampleVault
  var open = Samples()
  var openAndGet = Samples()
  var lookUp = Samples()
  var lookUpInTwo = Samples()
  var absence = Samples()
  var put = Samples()
  var bareInsert = Samples()
  /// The item has no former version.
  var update = Samples()
  /// The item has ten, as many as are kept.
  var updateWithVersions = Samples()
  /// The versions of the item that has ten. No secret is read.
  var history = Samples()
  var list = Samples()
  var verify = Samples()
  var memory: (lookUp: String, list: String, verify: String) = ("", "", "")

  init(_ sample: SampleVault, in directory: String, rounds: Int, puts: Int) throws {
    self.sample = sample
    var generator = SplitMix(UInt64(sample.itemCount))
    try measureOpen(&generator)
    try measureLookUps(rounds, &generator)
    try measureWalks()
    try measurePuts(puts, in: directory, &generator)
  }

  private mutating func measureOpen(_ generator: inout SplitMix) throws {
    for _ in 0..<100 { _ = try open.measure { try sample.open() } }
    for _ in 0..<100 {
      let item = SampleVault.item(.random(in: 0..<sample.itemCount, using: &generator))
      try openAndGet.measure {
        let vault = try sample.open()
        guard let entry = try vault.entry(item) else { throw BenchmarkError("an item is missing") }
        _ = try vault.secret(of: entry.reference)
        try vault.close()
      }
    }
  }

  private mutating func measureLookUps(_ rounds: Int, _ generator: inout SplitMix) throws {
    let vault = try sample.open()
    PeakMemory.reset()
    for _ in 0..<rounds {
      let item = SampleVault.item(.random(in: 0..<sample.itemCount, using: &generator))
      try lookUp.measure {
        guard try vault.entryWithSecret(item) != nil else { throw BenchmarkError("an item is missing") }
      }
      try lookUpInTwo.measure {
        guard let entry = try vault.entry(item) else { throw BenchmarkError("an item is missing") }
        _ = try vault.secret(of: entry.reference)
      }
      let missing = SampleVault.item(.random(in: sample.itemCount..<2 * sample.itemCount, using: &generator))
      try absence.measure {
        guard try vault.entry(missing) == nil else { throw BenchmarkError("an item too many") }
      }
    }
    memory.lookUp = PeakMemory.text
  }

  private mutating func measureWalks() throws {
    let vault = try sample.open()
    let repetitions = sample.itemCount < 500_000 ? 5 : 2
    PeakMemory.reset()
    for _ in 0..<repetitions {
      let count = try list.measure { try vault.entries().entries.count }
      guard count == sample.itemCount else { throw BenchmarkError("\(count) items listed") }
    }
    memory.list = PeakMemory.text
    PeakMemory.reset()
    for _ in 0..<repetitions {
      let result = try verify.measure { try vault.verify() }
      guard result.isSound else { throw BenchmarkError("\(result.problems)") }
    }
    memory.verify = PeakMemory.text
  }

  private mutating func measurePuts(_ puts: Int, in directory: String, _ generator: inout SplitMix) throws {
    let path = "\(directory)/puts.coffer"
    let copy = try sample.copy(to: path)
    defer { for suffix in ["", "-wal", "-shm", "-journal", ".lock"] { unlink(path + suffix) } }
    var vault = try copy.open()
    let baseline = try Baseline(at: "\(directory)/puts.sqlite", rowByteCount: Self.rowByteCount)
    let old = try vault.add(
      SampleVault.item(sample.itemCount + puts), secret: try SampleVault.secret(puts), at: SampleVault.time)
    for index in 1...10 { try vault.update(old, secret: try SampleVault.secret(puts + index), at: SampleVault.time) }
    for index in 0..<puts {
      let secret = try SampleVault.secret(index)
      let item = SampleVault.item(sample.itemCount + index)
      let added = try put.measure { try vault.add(item, secret: secret, at: SampleVault.time) }
      try bareInsert.measure { try baseline.insertOne(&generator) }
      let next = try SampleVault.secret(puts + 20 + index)
      _ = try update.measure { try vault.update(added, secret: next, at: SampleVault.time) }
      _ = try updateWithVersions.measure { try vault.update(old, secret: next, at: SampleVault.time) }
      let count = try history.measure { try vault.history(of: old).former.count }
      guard count == 10 else { throw BenchmarkError("\(count) former versions") }
    }
    try vault.close()
  }
}
