import BenchmarkKit

/// Commands that read or write each record of a vault, beside `vault verify` of the same vault in the same round: a busy machine slows
/// both, and the ratio stays.
final class Walks {
  /// A command in each round.
  private final class Track {
    let name: String
    let command: Command
    /// After each run.
    let tidy: () -> Void
    var processor = Samples()
    var wall = Samples()
    /// Processor time in that of the verification of the same round.
    var ratios: [Double] = []
    var peakMemory = 0

    init(_ name: String, _ command: Command, _ tidy: @escaping () -> Void) {
      (self.name, self.command, self.tidy) = (name, command, tidy)
    }

    /// - Returns: The processor time, in seconds.
    func run() throws -> Double {
      let usage = try wall.measure { try command.run() }
      tidy()
      processor.append(usage.processorTime)
      peakMemory = max(peakMemory, usage.peakMemory)
      return Samples.seconds(usage.processorTime)
    }

    var row: [String] {
      [
        "`\(name)`", threeDigits(processor.median / 1e9), threeDigits(wall.median / 1e9),
        threeDigits(ratios.sorted()[ratios.count / 2]), "\(peakMemory >> 10) MiB",
      ]
    }
  }

  private let itemCount: Int
  private let verify: Track
  private let others: [Track]

  init(itemCount: Int, verify: Command, _ others: [(command: Command, name: String, tidy: () -> Void)]) {
    self.itemCount = itemCount
    self.verify = Track("vault verify", verify, {})
    self.others = others.map { Track($0.name, $0.command, $0.tidy) }
  }

  private func run() throws {
    let base = try verify.run()
    verify.ratios.append(1)
    for track in others { track.ratios.append(try track.run() / base) }
  }

  static func measure(_ sizes: [Int], rounds: Int, _ vaults: CofferVaults) throws {
    guard rounds > 0 else { throw BenchmarkError("--rounds: at least 1") }
    print(
      "Whole commands on a vault with a key file, medians of \(rounds) rounds, most memory of any. \(Machine.description)")
    for size in sizes {
      let walks = try vaults.walks(itemCount: size)
      for _ in 0..<rounds { try walks.run() }
      var table = MarkdownTable(["\(size) items", "processor, s", "wall, s", "in verifies, processor", "peak memory"])
      for track in [walks.verify] + walks.others { table.append(track.row) }
      print("\n\(table)")
    }
  }
}
