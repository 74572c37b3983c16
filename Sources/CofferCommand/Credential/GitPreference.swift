import Coffer
import CofferConsole
import CredentialProtocols
import VaultCore

/// `coffer credential git prefer USER HOST[/PATH]`: of several accounts at a host, git gets the password of this one.
struct GitPreference {
  private let user: String
  /// Nil: any.
  private let scheme: String?
  private let host: String
  /// Empty for the whole host.
  private let path: String

  /// - Parameter place: `HOST`, `HOST/PATH` or a URL of them, percent-encoded.
  /// - Throws: usage.
  init(user: String, place: String) throws(Failure) {
    let mark = place.firstRange(of: "://")
    scheme = mark.map { place[..<$0.lowerBound].lowercased() }
    let rest = place[(mark?.upperBound ?? place.startIndex)...]
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    guard slash != rest.startIndex, !rest[..<slash].contains("@") else {
      throw .usage("prefer: \"\(place)\" is not a host", hint: "coffer credential git prefer USER HOST[/PATH]")
    }
    self.user = user
    host = String(rest[..<slash])
    path = GitPlace.plain(try PercentEncoding.decode(rest[slash...]))
    try ItemName.check(path, "path")
  }

  /// Another account that was preferred for this path is so no longer.
  /// - Throws: not found, with the accounts that there are.
  func set(in items: GitItems) throws {
    let entries = try about(host) { try accounts(in: items) }
    guard entries.contains(where: isChosen) else {
      throw Failure(
        .notFound, "\(host): no password of \(user)", hint: "git keeps one after it has asked for it; or: coffer set HOST/USER",
        details: Set(entries.map { $0.item["account"] ?? "" }).sorted())
    }
    // The new one first: an interruption leaves two, of which the one changed last counts.
    for entry in entries.filter(isChosen) + entries.filter({ !isChosen($0) }) {
      let paths = GitFit.preferredPaths(of: entry.item)
      guard paths.contains(path) != isChosen(entry) else { continue }
      try about(entry.nameWithGroup) {
        _ = try items.keychain.update(entry.reference) { $0.setPreferredPaths(toggling: path) }
      }
    }
    if !path.isEmpty {
      Descriptor.error.hintAtTerminal(
        "git names paths only after: git config --global credential.https://\(host).useHttpPath true")
    }
  }

  private func isChosen(_ entry: Entry) -> Bool { (entry.item["account"] ?? "").utf8.elementsEqual(user.utf8) }

  private func accounts(in items: GitItems) throws -> [Entry] {
    let place = GitPlace(scheme: scheme ?? "https", host: host, path: nil)
    var attributes = place.attributes
    if scheme == nil { attributes["protocol"] = nil }
    return try items.keychain.items(KeychainQuery(.internetPassword, group: items.group, attributes: attributes))
      + items.generic(place)
  }
}

extension Item {
  fileprivate mutating func setPreferredPaths(toggling path: String) {
    var paths = GitFit.preferredPaths(of: self)
    if let index = paths.firstIndex(of: path) { paths.remove(at: index) } else { paths.append(path) }
    attributes[GitFit.paths] = paths.isEmpty ? nil : .text(paths.map { "/\($0)" }.joined(separator: "\n"))
  }
}
