import BenchmarkKit
import Glibc

/// Runs clients in as many processes as needed: an agent accepts 32 connections of one process.
struct Runs {
  private static let clientsPerProcess = 16
  let client: String
  let seconds: Int

  /// `N/s, median us`.
  func run(_ program: String, _ operation: String, _ socket: String, _ clients: Int, _ items: Int) throws -> String {
    var outputs: [UnsafeMutablePointer<FILE>] = []
    var left = clients
    while left > 0 {
      let count = min(left, Self.clientsPerProcess)
      let seed = UInt32.random(in: 1...(.max))
      guard let output = popen("exec '\(program)' '\(socket)' \(operation) \(count) \(seconds) \(items) \(seed)", "r") else {
        throw BenchmarkError("popen")
      }
      outputs.append(output)
      left -= count
    }
    var rate = 0.0
    var medians: [Double] = []
    for output in outputs {
      var line = [CChar](repeating: 0, count: 256)
      let isThere = fgets(&line, 256, output) != nil
      let status = pclose(output)
      let words = line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }.split { $0 == " " || $0 == "\n" }.compactMap {
        Double($0)
      }
      guard isThere, status == 0, words.count == 3 else { throw BenchmarkError("a client has ended with \(status)") }
      rate += words[0] / words[1]
      medians.append(words[2])
    }
    medians.sort()
    return "\(Int(rate)), \(threeDigits(medians[medians.count / 2])) us"
  }
}
