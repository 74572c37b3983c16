import Coffer
import Glibc
import Storage

/// The process that has a vault as its agent, though it may not be reached: its socket lies elsewhere, or was removed.
enum AgentHolder {
  /// - Parameter vault: Nil for the user's own.
  /// - Returns: Nil where nobody has it, or that cannot be seen.
  static func process(ofVault vault: String?) -> Int32? {
    guard let places = try? Places(environment: { Environment[$0] }),
      let path = try? FileStore(at: vault ?? places.vault).path
    else { return nil }
    var status = stat()
    guard unsafe stat(places.agentLock(forVaultAt: path), &status) == 0 else { return nil }
    guard let file = try? Descriptor.open("/proc/locks") else { return nil }
    defer { Glibc.close(file.number) }
    guard let locks = try? file.contents(limit: 1 << 22) else { return nil }
    // To try the lock would keep an agent from having it that begins at the same moment.
    for line in String(decoding: locks, as: UTF8.self).split(separator: "\n") {
      // "1: FLOCK  ADVISORY  WRITE 4711 fe:01:815 0 EOF": the process, and the file.
      let words = line.split(separator: " ")
      guard words.count >= 6, words[1] == "FLOCK", words[5].hasSuffix(":\(status.st_ino)"), let process = Int32(words[4]) else {
        continue
      }
      return process
    }
    return nil
  }

  static func unreachable(at socket: String, vault: String?) -> Failure {
    let process = process(ofVault: vault).map { "\($0)" }
    return Failure(
      .other, "an agent has the vault, and is not reached at \(socket)\(process.map { " (process \($0))" } ?? "")",
      hint: "its XDG_RUNTIME_DIR is another one\(process.map { "; to end it: kill \($0)" } ?? "")")
  }
}
