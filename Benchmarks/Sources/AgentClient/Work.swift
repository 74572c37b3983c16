import BenchmarkKit
import Coffer
import Glibc
import VaultCore

/// The operation that one client repeats.
final class Work {
  private enum Kind {
    case get([Reference])
    case getByName
    case put
    case echo(Int32)
  }

  private let kind: Kind
  private let keychain: Keychain
  private let items: Int
  private let prefix: String
  private var generator: SplitMix
  private var count = 0

  init(_ operation: String, _ socket: String, items: Int, seed: UInt64) throws {
    keychain = try Keychain.connect(toAgentAt: socket)
    self.items = items
    generator = SplitMix(seed)
    prefix = "new-\(seed)-"
    switch operation {
    case "get":
      // By reference, as in a program that has looked up the items once.
      var references: [Reference] = []
      for _ in 0..<min(items, 200) {
        let name = SampleVault.name(.random(in: 0..<items, using: &generator))
        references.append(try keychain.item(KeychainQuery(service: name.service, account: name.account)).reference)
      }
      kind = .get(references)
    case "get-by-name": kind = .getByName
    case "put": kind = .put
    case "echo": kind = .echo(try EchoSocket.connect(socket))
    default: throw BenchmarkError(operation)
    }
  }

  func one() throws {
    count += 1
    switch kind {
    case .get(let references):
      let secret = try keychain.secret(of: references[.random(in: 0..<references.count, using: &generator)])
      guard secret.count == 24 else { throw BenchmarkError("a wrong secret") }
    case .getByName:
      let name = SampleVault.name(.random(in: 0..<items, using: &generator))
      let found = try keychain.item(KeychainQuery(service: name.service, account: name.account))
      guard try keychain.secret(of: found.reference).count == 24 else { throw BenchmarkError("a wrong secret") }
    case .put:
      try keychain.add(Item(service: "new", account: "\(prefix)\(count)"), secret: SampleVault.secret(count))
    case .echo(let descriptor): try EchoSocket.ask(descriptor)
    }
  }
}

/// SplitMix64: the same numbers in each run.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
