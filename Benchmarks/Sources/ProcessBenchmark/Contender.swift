import BenchmarkKit
import Glibc

/// A way to store secrets, filled with a number of items.
struct Contender {
  let name: String
  let get: (_ index: Int) -> Command
  /// nil if there is nothing to compare.
  let put: ((_ index: Int) -> Command)?
}

/// One row of the table, measured alternately with all others.
final class Track {
  let name: String
  let itemCount: Int
  var samples = Samples()
  private let command: (Int) -> Command

  init(_ name: String, itemCount: Int = 0, _ command: @escaping (Int) -> Command) {
    self.name = name
    self.itemCount = itemCount
    self.command = command
  }

  func run(round: Int) throws {
    let command = command(round)
    _ = try samples.measure { try command.run() }
  }
}
