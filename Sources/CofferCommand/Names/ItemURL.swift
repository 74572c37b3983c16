import CofferConsole

/// The URL of a place that asks for a password, as it is copied from a browser: `https://github.com/ada`.
///
/// Its host is the service, and its user the account; without a user its path is, as behind the host in `github.com/ada`.
struct ItemURL: Hashable, Sendable {
  let scheme: String
  let host: String
  let port: UInt64?
  let account: String?
  /// With its slash; only beside a user.
  let path: String?

  /// Nil if the text is no URL.
  /// - Throws: usage, for a URL that cannot name an item. The message never holds a password.
  init?(_ text: String) throws(Failure) {
    guard let mark = text.firstRange(of: "://") else { return nil }
    let scheme = text[..<mark.lowerBound]
    guard let first = scheme.unicodeScalars.first, first.properties.isAlphabetic, first.isASCII,
      scheme.utf8.allSatisfy({ Self.schemeBytes.contains($0) })
    else { return nil }
    let rest = text[mark.upperBound...]
    guard !rest.contains("?"), !rest.contains("#") else {
      throw .usage("name: a URL with ? or # names no item", hint: "leave that part out, or --service takes any text")
    }
    let end = rest.firstIndex(of: "/") ?? rest.endIndex
    let authority = rest[..<end]
    let at = authority.lastIndex(of: "@")
    let user = at.map { authority[..<$0] }
    guard user?.contains(":") != true else {
      throw .usage(
        "name: the URL holds a password", hint: "leave it out: the secret comes from standard input or the terminal")
    }
    var place = authority[(at.map { authority.index(after: $0) } ?? authority.startIndex)...]
    var port: UInt64?
    if let colon = place.lastIndex(of: ":"), !place[colon...].contains("]") {
      guard let number = UInt16(place[place.index(after: colon)...]), number > 0 else {
        throw .usage("name \"\(text)\": the port is not a number from 1 to 65535")
      }
      port = UInt64(number)
      place = place[..<colon]
    }
    guard !place.isEmpty else {
      throw .usage("name \"\(text)\": a URL without a host names no item", hint: "--service takes any text")
    }
    var path = rest[end...]
    while path.last == "/" { path.removeLast() }
    self.scheme = scheme.lowercased()
    host = place.lowercased()
    self.port = port
    let named = user ?? (path.isEmpty ? nil : path.dropFirst())
    account = try named.map { (text) throws(Failure) in try PercentEncoding.decode(text) }
    self.path = user == nil || path.isEmpty ? nil : try PercentEncoding.decode(path)
  }

  private static let schemeBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.".utf8)
}
