import AccessRights
import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

/// Damage to the file itself, as a disk or an attacker does it. Whatever happens to it, a reader gets the right answer or an error.
@Suite struct BitFlipTests {
  static let app = "com.example.editor"

  /// With what each list has: items, groups, a pin and a grant.
  static func makeVault(at path: String) throws {
    var vault = try Vault.throwAway(in: FileStore.create(at: path))
    let signed = try signedApp()
    try vault.transaction { transaction in
      _ = try transaction.install(signed, at: .test)
      try transaction.put(Grant(to: signed.manifest.applicationIdentifier, .standard, .read, at: .test))
    }
    try vault.add(Item(service: "github", account: "bob"), secret: Secret(testing: "hunter2"), at: .test)
    try vault.add(Item(service: "github", account: "alice"), secret: Secret(testing: "secret"), at: .test)
    try vault.close()
  }

  static func signedApp() throws -> SignedManifest {
    let key = try TeamSigningKey(seed: Secret(testing: [UInt8](repeating: 1, count: 32)))
    let manifest = try Manifest(
      team: key.publicKey.identifier, identifier: AppIdentifier(app), displayName: "Editor", version: 1,
      executables: [.init(path: "bin/editor", role: .app, digest: [UInt8](repeating: 1, count: 32))])
    return try SignedManifest(signing: manifest, with: key)
  }

  /// Everything a program can see of the vault, each answer by itself: nil if it is refused.
  static func read(_ path: String) throws -> [String?] {
    let vault = try Vault.openThrowAway(FileStore(at: path))
    var seen = [
      try? "\(vault.entries().entries)", try? "\(vault.groups())", try? "\(vault.pins())", try? "\(vault.grants())",
      try? "\(vault.entitlements(of: signedApp()).groups.isEmpty)",
    ]
    for account in ["bob", "alice", "nobody"] { seen.append(try? found(account, in: vault)) }
    return seen
  }

  private static func found(_ account: String, in vault: borrowing Vault) throws -> String {
    guard let found = try vault.entryWithSecret(Item(service: "github", account: account)) else { return "absent" }
    return "\(found.entry) \(found.secret.copyIntoUnprotectedBytes())"
  }

  /// The result of the full walk for a file that does not give every answer.
  static func isSound(_ path: String) -> Bool {
    (try? Vault.openThrowAway(FileStore(at: path)).verify().isSound) ?? false
  }

  /// Every bit is too many where nothing is optimised; a prime, so that each bit of a byte has its turn.
  static let step = _isDebugAssertConfiguration() ? 11 : 1

  static func write(_ byte: UInt8, at offset: Int, to path: String) throws {
    let file = try FileHandle(forUpdating: URL(filePath: path))
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data([byte]))
    try file.close()
  }

  /// In a file in memory, on as many threads as there are cores: each answer is right or refused, and a file of which one is refused
  /// is not called sound.
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
          for bit in stride(from: worker * Self.step, to: bytes.count * 8, by: workers * Self.step) {
            // Into the same file: nobody has it open between two reads.
            try Self.write(bytes[bit / 8] ^ (1 << UInt8(bit % 8)), at: bit / 8, to: path)
            result.0 += 1
            if let seen = try? Self.read(path) {
              if seen == honest { result.1 += 1 }
              let isWrong = zip(seen, honest).contains { $0 != nil && $0 != $1 }
              if isWrong || seen != honest && Self.isSound(path) { result.2.append(bit) }
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
    #expect(counts.flips == (bytes.count * 8 + Self.step - 1) / Self.step)
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
      if seen?.contains(nil) ?? true { refused += 1 } else { #expect(seen == honest) }
      #expect(try Data(contentsOf: URL(filePath: path)) == bytes.prefix(length), "a file that cannot be read is left alone")
    }
    #expect(refused > 300)
  }
}
