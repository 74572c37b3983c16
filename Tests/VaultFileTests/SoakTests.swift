import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

/// Writers that are killed at any moment lose nothing that they acknowledged.
@Suite(.serialized) struct SoakTests {
  /// The commits that the writer's lines promise, and the operation in progress when it was killed.
  struct Promise {
    var items: [String: String] = [:]
    var pending: (account: String, value: String?)?

    mutating func take(_ output: String) {
      for line in output.split(separator: "\n", omittingEmptySubsequences: true) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count >= 3 else { continue }
        let value = words[1] == "put" && words.count == 4 ? words[3] : nil
        if words[0] == "begin" {
          pending = (words[2], value)
        } else if words[0] == "done" {
          items[words[2]] = value
          pending = nil
        }
      }
    }

    /// - Returns: the accounts whose value is not what was promised.
    mutating func broken(in vault: borrowing Vault, accounts: String) throws -> [String] {
      var stored: [String: String] = [:]
      for entry in try vault.entries(where: { $0.item["account"]?.hasPrefix(accounts) ?? false }).entries {
        let bytes = try vault.secret(of: entry.reference).copyIntoUnprotectedBytes()
        stored[entry.item["account"] ?? ""] = String(decoding: bytes, as: UTF8.self)
      }
      if let pending, stored[pending.account] == pending.value { items[pending.account] = pending.value }
      let all = Set(items.keys).union(stored.keys)
      let broken = all.filter { items[$0] != stored[$0] }
      pending = nil
      items = stored
      return Array(broken)
    }
  }

  /// - Returns: the number of acknowledged operations, and of promises broken.
  static func soak(kills: Int, writers: Int, arguments: [String] = []) throws -> (acknowledged: Int, broken: Int) {
    let directory = try Directory()
    let path = directory.file("vault.coffer")
    try Vault.throwAway(in: FileStore.create(at: path)).close()
    var promises = [Promise](repeating: Promise(), count: writers)
    var random = SystemRandomNumberGenerator()
    var acknowledged = 0
    var broken = 0
    for round in 0..<kills / writers {
      var running: [(Process, Pipe)] = []
      for writer in 0..<writers {
        let pipe = Pipe()
        running.append(
          (
            try start(
              "VaultProbe", ["write", path, "\(writer + 1)\(String(format: "%03d", round))"] + arguments,
              output: pipe.fileHandleForWriting), pipe
          ))
        try pipe.fileHandleForWriting.close()
      }
      usleep(UInt32.random(in: 5_000...60_000, using: &random))
      for (process, _) in running { kill(process.processIdentifier, SIGKILL) }
      for (writer, (process, pipe)) in running.enumerated() {
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(!output.contains("error"), "\(output.suffix(300))")
        promises[writer] = Promise()
        promises[writer].take(output)
        acknowledged += output.components(separatedBy: "\ndone").count - 1
      }
      let vault = try Vault.openThrowAway(FileStore(at: path))
      for writer in 0..<writers {
        broken += try promises[writer].broken(in: vault, accounts: "\(writer + 1)\(String(format: "%03d", round))-").count
      }
      #expect(try vault.verify().problems == [])
    }
    return (acknowledged, broken)
  }

  @Test(.timeLimit(.minutes(60))) func killedWritersLoseNothing() throws {
    var (kills, acknowledged, broken) = (0, 0, 0)
    // On a machine that is busy few writers come so far.
    while acknowledged <= 100, kills < 1200 {
      let result = try Self.soak(kills: 60, writers: 3)
      kills += 60
      acknowledged += result.acknowledged
      broken += result.broken
    }
    #expect(acknowledged > 100)
    #expect(broken == 0)
    print("soak: \(kills) kills, \(acknowledged) operations acknowledged, \(broken) lost")
  }

  /// The control: a writer that acknowledges before it commits is caught by the same harness.
  @Test(.timeLimit(.minutes(60))) func writerThatAcknowledgesEarlyIsCaught() throws {
    var broken = 0
    for _ in 0..<10 where broken == 0 {
      broken += try Self.soak(kills: 30, writers: 3, arguments: ["--ack-early"]).broken
    }
    #expect(broken > 0)
  }

  @Test(.timeLimit(.minutes(60))) func eightProcessesOfAHundredWrites() throws {
    let directory = try Directory()
    let path = directory.file("vault.coffer")
    try Vault.throwAway(in: FileStore.create(at: path)).close()
    let writers = try (0..<8).map { try start("VaultProbe", ["add", path, "writer\($0)", "100"]) }
    for writer in writers {
      writer.waitUntilExit()
      #expect(writer.terminationStatus == 0)
    }
    let vault = try Vault.openThrowAway(FileStore(at: path))
    #expect(try vault.entries().entries.count == 800)
    #expect(try vault.status().generation == 801)
    #expect(try vault.verify().problems == [])
  }
}
