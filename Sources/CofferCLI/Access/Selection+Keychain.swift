import Coffer
import VaultCore

extension VaultOptions {
  /// The agent's keychain, where nothing in the options says how else the vault is to be opened, and the agent has it open.
  func agent() throws -> Keychain? {
    guard vault == nil, keyFile == nil, passphraseDescriptor == nil, !recoveryKey, recoveryKeyDescriptor == nil else {
      return nil
    }
    let keychain = try Keychain.connect()
    guard (try? keychain.isLocked) == false else { return nil }
    return keychain
  }
}

extension Selection {
  /// - Throws: not found; several match; what the agent refuses.
  func one(in keychain: Keychain) throws -> Entry {
    let item = try name.item(itemClass)
    var exact = KeychainQuery(itemClass, group: try group, attributes: item.attributes)
    for (name, absent) in itemClass.primaryAttributes where exact.attributes[name] == nil { exact.attributes[name] = absent }
    return try about("\(name)") {
      if let found = try keychain.items(exact).first { return found }
      guard name.account == nil else { throw KeychainError(.notFound) }
      let others = try keychain.items(KeychainQuery(itemClass, group: group, attributes: item.attributes))
      guard let first = others.first else { throw KeychainError(.notFound) }
      guard others.count == 1 else {
        throw Failure(
          .severalMatch, "\(name): \(others.count) items match", hint: "name one: SERVICE/ACCOUNT",
          details: others.map(\.nameWithGroup).sorted())
      }
      return first
    }
  }
}
