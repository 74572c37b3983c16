import Coffer
import CofferConsole
import CredentialProtocols
import VaultCore

/// The items of a vault that hold passwords for git.
struct GitItems {
  let keychain: Keychain
  /// Nil: the groups of the app in whose name the command works.
  let group: AccessGroup?

  init(_ items: OpenItems, group: String?) throws {
    keychain = items.keychain
    self.group = try items.groupOfHelper(group)
  }

  struct Candidate {
    let entry: Entry
    let fit: GitFit

    var item: Item { entry.item }
    var user: String { item["account"] ?? "" }
    /// Nil for a password.
    var authenticationType: String? { item["authentication-type"] }
  }

  /// The items that fit, the best first: internet passwords of this protocol, host and port, and generic passwords of this host.
  func candidates(_ place: GitPlace, user: String?) throws -> [Candidate] {
    let now = Timestamp.now()
    let entries = try about(place.description) {
      try keychain.items(KeychainQuery(.internetPassword, group: group, attributes: place.attributes)) + generic(place)
    }
    return entries.compactMap { entry in
      GitFit(entry.item, place, user: user, at: now).map { Candidate(entry: entry, fit: $0) }
    }.sorted { $1.fit < $0.fit }
  }

  /// The generic passwords that `coffer set HOST/USER` makes.
  func generic(_ place: GitPlace) throws -> [Entry] {
    guard !place.server.isEmpty else { return [] }
    let found = try keychain.items(KeychainQuery(service: place.host, group: group))
    guard place.isUnprotected, let first = found.first else { return found }
    Descriptor.error.note(
      "note: \(first.name.escapingControls()): not for \(place.scheme), which may send it unencrypted; "
        + "an internet password of this protocol would be\n")
    return []
  }

  /// The item that holds the refresh token of another one. Nil if there is none.
  func refreshToken(of entry: Entry) throws -> Entry? {
    try item(entry.item.refreshToken(), in: entry.reference.group)
  }

  /// The item with all of these primary attributes: one proven look-up.
  func item(_ item: Item, in group: AccessGroup?) throws -> Entry? {
    var query = KeychainQuery(item.itemClass, group: group)
    for (name, absent) in item.itemClass.primaryAttributes { query.attributes[name] = item.attributes[name] ?? absent }
    return try keychain.items(query).first
  }
}

extension Item {
  /// The companion for its refresh token.
  func refreshToken() throws(Failure) -> Item { try bareCompanion("refresh") }

  /// The path of an internet password, without slashes before and after.
  var path: String { GitPlace.plain(self["path"] ?? "") }
}
