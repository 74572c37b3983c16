package import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// `~/.docker/config.json`: the credentials of registries. `docker-credential-coffer` answers with these items.
package enum DockerFormat {
  package static let kind = "docker"
  /// The user that Docker gives for a token of identity.
  private static let tokenUser = "<token>"

  /// - Throws: as `JSONText`; `otherShape`, `base64Malformed`, `fieldTooLarge`.
  package static func items(of text: SourceText) throws -> ForeignItems {
    let document = try JSONText(of: text)
    guard document.isObject else { throw ForeignError(.otherShape, line: document.line) }
    var result = ForeignItems()
    for member in document.members where !member.isSetting("auths") {
      result.lost.append(LostPart(line: member.value.line, what: member.name, .setting))
    }
    guard let servers = try document.setting("auths") else { return result }
    guard servers.isObject else { throw ForeignError(.otherShape, line: servers.line, "auths") }
    for server in servers.members { try add(server, text, to: &result) }
    return result
  }

  private static func add(_ server: JSONText.Member, _ text: SourceText, to result: inout ForeignItems) throws {
    let entry = server.value
    guard entry.isObject else { throw ForeignError(.otherShape, line: entry.line, server.name) }
    guard let (user, secret, value) = try credential(entry, text) else {
      result.lost.append(LostPart(line: entry.line, what: server.name, entry.members.isEmpty ? .elsewhere : .noSecret))
      return
    }
    var item = ForeignItem(Item(service: server.name, account: user), secret, line: entry.line, value: value)
    item.item[ForeignItem.kind] = kind
    if let email = try entry.setting("email")?.text(in: text) { item.set("docker.email", to: email) }
    if let token = try entry.setting("registrytoken")?.secret(in: text), token.secret.count > 0 {
      item.add(.init(field: "registrytoken", secret: token))
    }
    result.items.append(item)
  }

  private static func credential(
    _ entry: JSONText, _ text: SourceText
  ) throws -> (user: String, secret: HeldSecret, value: Range<Int>)? {
    if let token = try entry.setting("identitytoken"), let secret = try token.secret(in: text), secret.secret.count > 0 {
      return (tokenUser, secret, token.range)
    }
    if let both = try entry.setting("auth"), let encoded = try both.secret(in: text), encoded.secret.count > 0 {
      guard let decoded = try Base64.decode(encoded.secret),
        let (user, secret) = try HeldSecret(decoded).divided(at: UInt8(ascii: ":"))
      else { throw ForeignError(.base64Malformed, line: both.line, "auth") }
      return (user, secret, both.range)
    }
    guard let password = try entry.setting("password"), let secret = try password.secret(in: text) else { return nil }
    return (try entry.setting("username")?.text(in: text) ?? "", secret, password.range)
  }

  // MARK: The helper

  /// The name by which docker asks the helper about a server of `auths`. Returns nil if the helper would not find the item by it: docker asks
  /// by the host alone, except for its own registry.
  package static func askedName(of server: String) -> String? {
    if server == "https://index.docker.io/v1/" { return server }
    var host = server[...]
    for scheme in ["https://", "http://"] where host.hasPrefix(scheme) { host = host.dropFirst(scheme.count) }
    while host.last == "/" { host = host.dropLast() }
    return host.isEmpty || host.contains("/") ? nil : String(host)
  }

  /// The helper that docker asks about a server, if one is set up.
  package static func helper(of server: String, in document: JSONText, _ text: SourceText) throws -> String? {
    let name = askedName(of: server) ?? server
    // docker reads null as an empty name.
    if let own = try document.setting("credHelpers")?[name] { return try own.text(in: text) ?? "" }
    let general = try document.setting("credsStore")?.text(in: text)
    return general?.isEmpty == true ? nil : general
  }

  /// Empties the entries of servers, and names the helper for them unless docker asks it already.
  /// - Throws: as `items`.
  package static func edits(of servers: Set<String>, helper: String, in text: SourceText) throws -> [TextEdit] {
    let document = try JSONText(of: text)
    let entries = try document.setting("auths")?.members.filter { servers.contains($0.name) } ?? []
    var edits = entries.map { TextEdit($0.value.range, "{}") }
    let names = try entries.filter { try self.helper(of: $0.name, in: document, text) != helper }
      .compactMap { askedName(of: $0.name) }
    guard !names.isEmpty else { return edits }
    let lines = Set(names).sorted().map { "\n\t\t\(JSONForm.string($0)): \(JSONForm.string(helper))" }.joined(separator: ",")
    if let helpers = try document.setting("credHelpers"), helpers.isObject {
      let place = helpers.range.lowerBound + 1
      edits.append(TextEdit(place..<place, lines + (helpers.members.isEmpty ? "\n\t" : ",")))
    } else {
      let place = document.range.lowerBound + 1
      edits.append(TextEdit(place..<place, "\n\t\"credHelpers\": {\(lines)\n\t},"))
    }
    return edits
  }
}

extension JSONText {
  /// A setting of docker, which compares their names, but not those of servers, without regard to case.
  /// - Throws: `memberTwice`, for two of a name: docker takes one or both.
  package func setting(_ name: String) throws -> JSONText? {
    let found = members.filter { $0.isSetting(name) }
    guard found.count < 2 else { throw ForeignError(.memberTwice, line: found[1].value.line, found[1].name) }
    return found.first?.value
  }
}

extension JSONText.Member {
  /// As Go compares names of JSON: the sign of Kelvin is a k, and a long s is an s.
  fileprivate func isSetting(_ name: String) -> Bool { self.name.uppercased() == name.uppercased() }
}
