import Coffer
import CofferConsole
import CredentialProtocols
import SecretMemory
import VaultCore

/// `erase`: a server has refused a credential. Only items that match all that git sends are removed, and coffer secret restore brings
/// them back.
enum GitErase {
  static func run(_ items: GitItems, _ place: GitPlace, _ message: borrowing GitMessage) throws {
    let user = try message.text(.username)
    let type = try message.understandsAuthenticationTypes ? message.text(.authenticationType) : nil
    switch try message.secret(type == nil ? .password : .credential) {
    case .some(let secret):
      let fitting = try items.candidates(place, user: user).filter { $0.authenticationType == type }
      for candidate in fitting where try items.isSecret(of: candidate.entry, secret) { try remove(candidate.entry, items) }
    case .none:
      for entry in try items.internetPasswords(place, user: user) { try remove(entry, items) }
    }
  }

  private static func remove(_ entry: Entry, _ items: GitItems) throws {
    try about(entry.nameWithGroup) {
      for entry in [try items.refreshToken(of: entry), entry].compactMap(\.self) {
        if try !items.keychain.remove(entry.reference) { ItemRemoval.noteLoss(of: entry.nameWithGroup) }
      }
    }
  }
}

extension GitItems {
  /// Those of this place and, if one is named, of exactly this path and user. A generic password is the owner's own: only the password
  /// itself shows that it was meant.
  fileprivate func internetPasswords(_ place: GitPlace, user: String?) throws -> [Entry] {
    try about(place.description) {
      try keychain.items(KeychainQuery(.internetPassword, group: group, attributes: place.attributes))
    }.filter { entry in
      (user ?? entry.item["account"] ?? "").utf8.elementsEqual((entry.item["account"] ?? "").utf8)
        && (place.path ?? entry.item.path).utf8.elementsEqual(entry.item.path.utf8)
    }
  }
}
