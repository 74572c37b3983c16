import CofferStorage
import CofferTesting
import Foundation
import SystemBench
import Testing
import VaultCore

/// `truncate -s 0` on the vault of a running agent, while its log holds what was acknowledged.
@Suite(.timeLimit(.minutes(15))) struct TruncatedVaultTests {
  /// Both outputs of `coffer` in one text.
  private func set(_ name: String, _ bench: DaemonBench) throws -> (status: Int32, text: String) {
    let process = bench.command("/bin/sh", ["-c", "printf x | '\(AgentBench.program("coffer").path)' secret set \(name) 2>&1"])
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  private func copies(_ bench: DaemonBench) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: bench.directory.path).filter { $0.hasSuffix(".kept") }
  }

  /// Five items were acknowledged after it, and lost.
  @Test func theCopyThatTheErrorNamesHasAcknowledgedChanges() throws {
    let bench = try DaemonBench()
    try bench.unlock()
    let path = bench.places.vault
    // The journal becomes a log.
    #expect(try set("mail/1", bench).status == 0)
    var before = Data()
    // A reader keeps the commits after its own state in the log: else the agent folds them into the file within a second.
    let reader = try FileStore(at: path)
    try reader.read { _ throws -> Void in
      for number in 2...4 { #expect(try set("mail/\(number)", bench).status == 0) }
      before = try Data(contentsOf: URL(filePath: path))
      let log = try Data(contentsOf: URL(filePath: path + "-wal"))
      #expect(unsafe truncate(path, 0) == 0)
      var names: Set<String> = []
      for number in 5...9 {
        let refused = try set("mail/\(number)", bench)
        #expect(refused.status == 9, "\(refused)")
        let named = refused.text.split { " \n();,".contains($0) }.filter { $0.hasSuffix(".kept") }
        #expect(named.count == 1, "\(refused)")
        names.formUnion(named.map(String.init))
      }
      // One copy, which has the log as it was, and nothing of it has gone into the file.
      #expect(try names == Set(copies(bench).map { bench.directory.path + "/" + $0 }) && names.count == 1, "\(names)")
      for name in names { #expect(try Data(contentsOf: URL(filePath: name)) == log) }
      #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
    }
    #expect(try bench.coffer(["secret", "get", "mail/1"]).status == 9)
    let name = try #require(try copies(bench).first)
    #expect(
      try names(of: before, beside: Data(contentsOf: bench.directory.appending(path: name)), in: bench) == (1...4).map { "\($0)" }
    )
    // Without the copy it is what had been folded in.
    #expect(try names(of: before, beside: nil, in: bench).count < 4)
  }

  /// The accounts in a vault that is put together from a file and a log.
  private func names(of file: Data, beside log: Data?, in bench: DaemonBench) throws -> [String] {
    let directory = bench.directory.appending(path: "again-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for (name, content) in [("vault.coffer", file), ("vault.coffer-wal", log)] {
      guard let content else { continue }
      let place = directory.appending(path: name)
      try content.write(to: place)
      unsafe chmod(place.path, 0o600)
    }
    let vault = try Vault.open(FileStore(at: directory.path + "/vault.coffer"), with: .throwAway())
    return try vault.entries(in: .standard).entries.compactMap { entry in
      if case .text(let account)? = entry.item.attributes["account"] { account } else { nil }
    }.sorted()
  }
}
