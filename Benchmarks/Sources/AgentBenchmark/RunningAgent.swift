import BenchmarkKit
import CofferStorage
import Glibc
import SecretMemory
import VaultCore

/// A `cofferd` with a vault of `itemCount` items, which belong to the client's own app.
struct RunningAgent {
  let socket: String
  /// The path of the installed client.
  let client: String
  private let home: String
  private let programs: String

  init(programs: String, client: String, itemCount: Int, in directory: String) throws {
    let (home, programs, client) = try (
      Self.absolute(directory) + "/agent-\(itemCount)", Self.absolute(programs), Self.absolute(client)
    )
    self.home = home
    self.programs = programs
    try Self.shell(
      """
      rm -rf \(home); mkdir -m 700 \(home) \(home)/bin; cd \(home); umask 077; cp \(client) bin/client
      head -c 64 /dev/urandom >key
      printf '%s' '{ Identifier = org.example.bench; DisplayName = B; Version = 1; Executables = ( { Path = "bin/client"; } ); }' >draft
      export COFFER_HOME=\(home)/home; unset XDG_RUNTIME_DIR
      coffer=\(programs)/coffer
      $coffer vault init --key-file key --no-passphrase
      $coffer app keygen team.key >team; $coffer app sign draft --key team.key >signed 2>/dev/null
      $coffer app install signed --key-file key >/dev/null 2>&1
      """)
    let team = Machine.lines(of: "\(home)/team").first.map(String.init) ?? ""
    self.client = "\(home)/home/Apps/\(team).org.example.bench/bin/client"
    socket = "\(home)/home/run/agent.sock"
    try Self.fill(itemCount, home, AccessGroup("\(team).org.example.bench"))
    try Self.shell(
      "cd \(home); export COFFER_HOME=\(home)/home; unset XDG_RUNTIME_DIR; \(programs)/coffer vault unlock --key-file key")
  }

  private static func absolute(_ path: String) throws -> String {
    guard let resolved = realpath(path, nil) else { throw BenchmarkError("\(path): is not there") }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func shell(_ script: String) throws {
    guard system("set -e\n\(script)") == 0 else { throw BenchmarkError("a step has failed:\n\(script)") }
  }

  private static func fill(_ itemCount: Int, _ home: String, _ group: AccessGroup) throws {
    guard let file = fopen("\(home)/key", "r") else { throw BenchmarkError("no key") }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    guard fread(&bytes, 1, 64, file) == 64 else { throw BenchmarkError("no key") }
    let store = try FileStore(at: "\(home)/home/vault.coffer")
    var vault = try Vault.open(
      store, with: .keyFile(Secret(copying: bytes.span.bytes)))
    for first in stride(from: 0, to: itemCount, by: 10_000) {
      try vault.transaction { transaction in
        if try !transaction.contains(group) { try transaction.createGroup(group, at: SampleVault.time) }
        for index in first..<min(first + 10_000, itemCount) {
          try transaction.add(SampleVault.item(index), secret: SampleVault.secret(index), to: group, at: SampleVault.time)
        }
      }
    }
    try store.checkpoint()
  }

  func stop() throws {
    try Self.shell("export COFFER_HOME=\(home)/home; unset XDG_RUNTIME_DIR; \(programs)/coffer agent stop; rm -rf \(home)")
  }
}
