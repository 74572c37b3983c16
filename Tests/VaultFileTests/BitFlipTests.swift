import CofferTesting
import Foundation
import Storage
import Testing
import VaultCore

/// Damage to the file itself, as a disk or an attacker does it. Whatever happens to it, a reader gets the right answer or an error.
@Suite struct BitFlipTests {
  static func makeVault(at path: String) throws {
    var vault = try Vault.throwAway(in: FileStore.create(at: path))
    try vault.add(Item(service: "github", account: "bob"), secret: Secret(testing: "hunter2"), at: .test)
    try vault.add(Item(service: "github", account: "alice"), secret: Secret(testing: "secret"), at: .test)
    try vault.close()
  }

  /// Everything a program can see of the vault.
  static func read(_ path: String) throws -> [String] {
    let vault = try Vault.openThrowAway(FileStore(at: path))
    var seen: [String] = []
    for entry in try vault.entries().entries {
      seen.append("\(entry)")
      seen.append("\(try vault.secret(of: entry.reference).copyIntoUnprotectedBytes())")
    }
    for account in ["bob", "alice", "nobody"] {
      guard let entry = try vault.entry(Item(service: "github", account: account)) else {
        seen.append("absent")
        continue
      }
      seen.append("\(try vault.secret(of: entry.reference).copyIntoUnprotectedBytes())")
    }
    return seen
  }

  static func write(_ byte: UInt8, at offset: Int, to path: String) throws {
    let file = try FileHandle(forUpdating: URL(filePath: path))
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data([byte]))
    try file.close()
  }

  /// In a file in memory, every bit once, on as many threads as there are cores.
  @Test(.timeLimit(.minutes(60))) func noFlippedBitChangesAnAnswer() async throws {
    let directory = try Directory(inMemory: true)
    try Self.makeVault(at: directory.file("vault.coffer"))
    let honest = try Self.read(directory.file("vault.coffer"))
    let bytes = try [UInt8](Data(contentsOf: URL(filePath: directory.file("vault.coffer"))))
    let workers = max(1, ProcessInfo.processInfo.activeProcessorCount)
    var counts = (flips: 0, unharmed: 0, wrong: [Int]())
    try await withThrowingTaskGroup(of: (Int, Int, [Int]).self) { group in
      for worker in 0..<workers {
        let path = directory.file("flipped-\(worker)/vault.coffer")
        try FileManager.default.createDirectory(
          atPath: directory.file("flipped-\(worker)"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        group.addTask {
          var result = (0, 0, [Int]())
          for bit in stride(from: worker, to: bytes.count * 8, by: workers) {
            // Into the same file: nobody has it open between two reads.
            try Self.write(bytes[bit / 8] ^ (1 << UInt8(bit % 8)), at: bit / 8, to: path)
            result.0 += 1
            if let seen = try? Self.read(path) {
              result.1 += 1
              if seen != honest { result.2.append(bit) }
            }
            try Self.write(bytes[bit / 8], at: bit / 8, to: path)
          }
          return result
        }
      }
      for try await (flips, unharmed, wrong) in group {
        counts.flips += flips
        counts.unharmed += unharmed
        counts.wrong += wrong
      }
    }
    #expect(counts.flips == bytes.count * 8)
    #expect(counts.wrong == [])
    // Bits of unused space are nobody's; but most of a flip's refusals must have happened.
    #expect(counts.unharmed < counts.flips)
    print("bit flips: \(counts.flips), of which \(counts.flips - counts.unharmed) were refused, 0 changed an answer")
  }

  @Test func truncationAtEveryByteOfAPageAndAtEveryPage() throws {
    let directory = try Directory(inMemory: true)
    let path = directory.file("vault.coffer")
    try Self.makeVault(at: path)
    let honest = try Self.read(path)
    let bytes = try Data(contentsOf: URL(filePath: path))
    var refused = 0
    for length in stride(from: 0, to: bytes.count, by: 1) where length < 200 || length % 61 == 0 || length % 4096 == 0 {
      try bytes.prefix(length).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      let seen = try? Self.read(path)
      if seen == nil { refused += 1 } else { #expect(seen == honest) }
      #expect(try Data(contentsOf: URL(filePath: path)) == bytes.prefix(length), "a file that cannot be read is left alone")
    }
    #expect(refused > 300)
  }
}
