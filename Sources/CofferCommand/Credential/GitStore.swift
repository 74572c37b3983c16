import Coffer
import CofferConsole
import CofferStorage
import CredentialProtocols
import SecretMemory
import VaultCore

/// `store`: git has used a credential with success. One that the vault has already is not written again.
struct GitStore {
  let options: HelperOptions

  func run(_ items: GitItems, _ place: GitPlace, _ message: borrowing GitMessage) throws {
    guard try !message.isEphemeral() else { return }
    let type = try message.understandsAuthenticationTypes ? message.text(.authenticationType) : nil
    guard let secret = try message.secret(type == nil ? .password : .credential) else { return }
    let user = try message.text(.username)
    // A credential of another type may have no user.
    guard user != nil || type != nil else { return }
    let stored = try items.candidates(place, user: user ?? "").filter { $0.authenticationType == type }
    let entry =
      try kept(secret, stored, items, message) ?? write(secret, place, user: user ?? "", type, items, message)
    try keepRefreshToken(of: entry, items, message)
  }

  /// The item that has this credential. Its time of expiry is written anew if git sends another one, and removed if it is past: the
  /// credential has just worked. git before 2.40 sends none, so one that is not past stays.
  private func kept(
    _ secret: borrowing Secret, _ stored: [GitItems.Candidate], _ items: GitItems, _ message: borrowing GitMessage
  ) throws -> Entry? {
    for candidate in stored {
      let entry = candidate.entry
      guard try items.isSecret(of: entry, secret) else { continue }
      let expiry = try message.passwordExpiry()
      if expiry != GitFit.expiry(of: entry.item), expiry != nil || candidate.fit.isExpired {
        try about(entry.nameWithGroup) { _ = try items.keychain.update(entry.reference) { $0.setExpiry(expiry) } }
      }
      return entry
    }
    return nil
  }

  private func write(
    _ secret: borrowing Secret, _ place: GitPlace, user: String, _ type: String?, _ items: GitItems,
    _ message: borrowing GitMessage
  ) throws -> Entry {
    let expiry = try message.passwordExpiry()
    var item = place.item(user: user, authenticationType: type)
    let name = item.nameWithGroup(items.group ?? .standard)
    let reference = try about(name) {
      if let entry = try items.item(item, in: items.group) {
        return try items.keychain.update(entry.reference, secret: secret) { $0.setExpiry(expiry) }
      }
      // A token as the user of a URL would be listed.
      try options.plainText.check(ItemName(service: place.host, account: user), typed: nil, isInputAllowed: false)
      item.setExpiry(expiry)
      return try items.keychain.add(item, secret: secret, group: items.group)
    }
    return try items.keychain.entry(reference)
  }

  private func keepRefreshToken(of entry: Entry, _ items: GitItems, _ message: borrowing GitMessage) throws {
    guard let token = try message.secret(.refreshToken) else { return }
    let companion = try entry.item.refreshToken()
    let group = entry.reference.group
    try about(companion.nameWithGroup(group)) {
      guard let stored = try items.item(companion, in: group) else {
        try items.keychain.add(companion, secret: token, group: group)
        return
      }
      guard try !items.isSecret(of: stored, token) else { return }
      try items.keychain.update(stored.reference, secret: token)
    }
  }
}

extension GitItems {
  func isSecret(of entry: Entry, _ secret: borrowing Secret) throws -> Bool {
    try about(entry.nameWithGroup) {
      var stored = try keychain.secret(of: entry.reference, purpose: "git: compare")
      if stored.isEqual(to: secret) { return true }
      // As git got it.
      stored.dropLineEnd()
      return stored.isEqual(to: secret)
    }
  }
}

extension Item {
  /// - Parameter seconds: Since 1970. Nil: the password does not expire.
  fileprivate mutating func setExpiry(_ seconds: UInt64?) { attributes[GitFit.expiry] = seconds.map { .text("\($0)") } }
}
