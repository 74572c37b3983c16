import Coffer
import CofferConsole
import CofferFiles
import OpenSSHAgent
import ProgramSecrets
import SSHAgentProtocol
import SecretMemory
import VaultCore

/// Moves a private key of ssh: the vault has it, ssh's agent lists it, and then the file goes.
struct SSHKeyMove {
  private let place: SweepPlace
  private let content: ReadFile
  private let keys: SSHKeys
  private let name: SSHKeyName

  init(_ place: SweepPlace, _ content: ReadFile, _ items: OpenItems) throws {
    (self.place, self.content) = (place, content)
    keys = try SSHKeys(items)
    name = try SSHKeys.name(Path.name(of: place.path))
  }

  /// - Returns: the name of the key in the vault.
  func run() throws -> String {
    try content.checkIsReplaceable()
    let record = try SweepRecord(of: content, at: place, in: keys.items, isMerging: false)
    let key = try self.key()
    if let present = try keys.key(name), try !isKept(key, as: present.entry) {
      throw Failure(
        .duplicate, "\(name): there is another key of this name, or this one with other rules; \(content.path) stays",
        hint: "coffer ssh add --name keeps it under another one")
    }
    try record.keep(
      left: Secret(count: 0), values: [HeldSecret(key.secret.duplicate())], mode: content.status.mode)
    if try keys.key(name) == nil { try keys.add(key, as: name) { record.mark(&$0) } }
    try keys.files.write(key.line, as: name)
    guard let present = try keys.key(name)?.entry, try isKept(key, as: present) else {
      throw Failure(.integrity, "\(content.path): the vault does not give the key back; the file stays")
    }
    try record.share(present)
    guard Self.isListed(key.line) else {
      throw Failure(
        .other, "\(content.path): coffer-ssh-agent does not list the key of the vault; the file stays",
        hint: "start it: coffer-ssh-agent(8)")
    }
    try content.checkIsUnchanged()
    try Files<FileError>.remove(content.path)
    try Files<FileError>.synchronizeDirectory(Path.parent(of: content.path))
    return present.nameWithGroup
  }

  private func isKept(_ key: AddedKey, as entry: Entry) throws -> Bool {
    try keys.items.keychain.secret(of: entry.reference, purpose: SweepRecord.purpose).isEqual(to: key.secret)
  }

  /// As ssh-add reads the content that was looked at, whatever the file has by now.
  private func key() throws -> AddedKey {
    let reader = try KeyReader(destinations: [], knownHosts: nil, isInputAllowed: false)
    let found = try reader.keys(in: content.text.whole(), named: content.path)
    guard let key = found.first, found.count == 1 else {
      throw Failure(.other, "\(content.path): ssh-add has added \(counted(found.count, "key")) of it; the file stays")
    }
    return key
  }

  private static func isListed(_ line: PublicKeyLine) -> Bool {
    guard let socket = SSHFindings.socket, let agent = try? AgentConnection(to: socket),
      let answer = try? agent.answer(to: [MessageNumber.requestIdentities])
    else { return false }
    return IdentitiesAnswer(parsing: answer)?.identities.contains { $0.key == line.identity.key } ?? false
  }
}
