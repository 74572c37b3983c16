package import VaultCore

/// A place that asks git for a password: protocol, host and port are exact, and a path begins with that of an item.
package struct GitPlace: Equatable, Sendable {
  package let scheme: String
  /// In lower case.
  package let server: String
  package let port: UInt64?
  /// Without slashes before and after. Nil if git does not send it: see `credential.useHttpPath`.
  package let path: String?

  /// The place of a message. Nil unless it has a protocol, and a host or a path: then no item can be meant.
  /// - Throws: `valueNotText`.
  package init?(_ message: borrowing GitMessage) throws(CredentialError) {
    guard let scheme = try message.text(.scheme), !scheme.isEmpty else { return nil }
    let host = try message.text(.host) ?? ""
    self.init(scheme: scheme, host: host, path: try message.text(.path))
    guard !server.isEmpty || path != nil else { return nil }
  }

  /// - Parameter host: With the port, if there is one.
  package init(scheme: String, host: String, path: String?) {
    self.scheme = Self.lowercased(scheme)
    let host = Self.lowercased(host)
    let colon = host.lastIndex(of: ":").flatMap { host[$0...].contains("]") ? nil : $0 }
    // Digits alone: an item's port is a number, and must be written again as it came.
    let port = colon.flatMap { UInt16(host[host.index(after: $0)...]) }.map { UInt64($0) }
    if let colon, let port, port > 0, host[host.index(after: colon)...] == "\(port)" {
      (server, self.port) = (String(host[..<colon]), port)
    } else {
      (server, self.port) = (host, nil)
    }
    self.path = path.map(Self.plain).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// ASCII alone, as names of hosts are compared: the Kelvin sign, U+212A, is no k, and its host gets no password of another one.
  private static func lowercased(_ text: String) -> String {
    String(decoding: text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// As git writes it.
  package var host: String { port.map { "\(server):\($0)" } ?? server }

  /// For people.
  package var description: String { "\(scheme)://\(host)" + (path.map { "/\($0)" } ?? "") }

  /// A path without slashes before and after.
  package static func plain(_ path: some StringProtocol) -> String {
    var rest = path[...]
    while rest.first == "/" { rest.removeFirst() }
    while rest.last == "/" { rest.removeLast() }
    return String(rest)
  }

  /// The attributes of this place in a search, whatever the user and the path.
  package var attributes: Attributes {
    var attributes = Attributes()
    attributes["protocol"] = .text(scheme)
    attributes["server"] = .text(server)
    attributes["port"] = .integer(port ?? 0)
    return attributes
  }

  /// A new item of this place.
  package func item(user: String, authenticationType: String?) -> Item {
    var item = Item(.internetPassword)
    item["protocol"] = scheme
    item["server"] = server
    item.attributes["port"] = port.map { .integer($0) }
    item["path"] = path.map { "/\($0)" }
    item["account"] = user
    item["authentication-type"] = authenticationType
    return item
  }

  private static let encrypted: Set = ["https", "ftps", "smtps", "imaps"]

  /// Whether a password may go over the network as it is. A generic password names no protocol, and none may be sent this way because a
  /// URL in a repository begins with `http` or `ftp`.
  package var isUnprotected: Bool {
    guard !Self.encrypted.contains(scheme) else { return false }
    let isLoopback =
      server == "localhost" || server.hasSuffix(".localhost") || server == "[::1]"
      || server.hasPrefix("127.") && server.allSatisfy { $0 == "." || $0.isASCII && $0.isNumber }
    return !isLoopback
  }
}

/// How well an item fits a place. The greatest fit is the one that git gets.
package struct GitFit: Comparable, Sendable {
  /// The attribute with the paths for which an item is preferred, one a line: `/` for the whole host.
  package static let paths = Item.userPrefix + "git.paths"
  /// The attribute with the end of a password, in seconds since 1970.
  package static let expiry = Item.userPrefix + "git.password-expiry-utc"

  /// The length of the path that the item has; the longest goes first.
  package let pathCount: Int
  /// The length of the longest path for which it is preferred. Nil if there is none.
  package let preferredCount: Int?
  let isInternetPassword: Bool
  package let isExpired: Bool
  private let modified: Timestamp

  /// Nil if the item does not fit.
  /// - Parameters:
  ///   - item: An item of this protocol, host and port, or a generic password of this host.
  ///   - user: Nil: any.
  package init?(_ item: Item, _ place: GitPlace, user: String?, at time: Timestamp) {
    if let user, !(item["account"] ?? "").utf8.elementsEqual(user.utf8) { return nil }
    isInternetPassword = item.itemClass == .internetPassword
    guard let count = Self.prefixCount(isInternetPassword ? GitPlace.plain(item["path"] ?? "") : "", place) else { return nil }
    // A host that is empty has only paths: the certificates of git.
    guard !place.server.isEmpty || count == place.path?.utf8.count else { return nil }
    pathCount = count
    preferredCount = Self.preferredPaths(of: item).compactMap { Self.prefixCount($0, place) }.max()
    isExpired = Self.expiry(of: item).map { Int64(clamping: $0) <= time.secondsSince1970 } ?? false
    modified = item.modified ?? Timestamp(secondsSince1970: 0)
  }

  package static func < (left: GitFit, right: GitFit) -> Bool {
    if left.pathCount != right.pathCount { return left.pathCount < right.pathCount }
    let (leftPreferred, rightPreferred) = (left.preferredCount ?? -1, right.preferredCount ?? -1)
    if leftPreferred != rightPreferred { return leftPreferred < rightPreferred }
    if left.isInternetPassword != right.isInternetPassword { return right.isInternetPassword }
    if left.isExpired != right.isExpired { return left.isExpired }
    return left.modified < right.modified
  }

  /// The length of `path`, if that of the place is the same or continues it after a slash.
  private static func prefixCount(_ path: String, _ place: GitPlace) -> Int? {
    guard !path.isEmpty else { return 0 }
    guard let asked = place.path?.utf8, asked.starts(with: path.utf8) else { return nil }
    let rest = asked.dropFirst(path.utf8.count)
    return rest.isEmpty || rest.first == UInt8(ascii: "/") ? path.utf8.count : nil
  }

  /// Without slashes before and after.
  package static func preferredPaths(of item: Item) -> [String] {
    guard case .text(let text)? = item.attributes[paths] else { return [] }
    return text.split(separator: "\n").map { GitPlace.plain($0) }
  }

  /// Nil if there is none, or if it is not a number.
  package static func expiry(of item: Item) -> UInt64? {
    guard case .text(let text)? = item.attributes[expiry] else { return nil }
    return UInt64(text)
  }
}
