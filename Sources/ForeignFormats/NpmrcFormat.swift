internal import ProgramSecrets
internal import VaultCore

/// `~/.npmrc`: credentials of registries among the settings. The service is the registry, without `//`.
package enum NpmrcFormat {
  private struct Registry {
    let line: Int
    var user: String?
    var token: Range<Int>?
    /// In base64.
    var password: Range<Int>?
    /// User and password, in base64.
    var both: Range<Int>?
    var others: [(name: String, value: String)] = []

    mutating func take(_ key: String, _ value: Range<Int>, _ text: SourceText) {
      switch key {
      case "_authToken": token = value
      case "_auth": both = value
      case "_password": password = value
      case "username": user = text.text(value)
      default: others.append((key, text.text(value)))
      }
    }
  }

  /// - Throws: `assignmentMissing`, `base64Malformed`, `fieldTooLarge`.
  package static func items(of text: SourceText) throws -> ForeignItems {
    var result = ForeignItems()
    var registries: [(place: String, registry: Registry)] = []
    var indices: [String: Int] = [:]
    for line in try SettingsLines(text, hasSections: false).lines {
      guard case .setting(let name, let written) = line.kind else { continue }
      let value = text.unquoted(written)
      guard let (place, key) = credential(name) else {
        result.lost.append(LostPart(line: line.number, what: name, .setting))
        continue
      }
      guard !value.isEmpty else {
        result.lost.append(LostPart(line: line.number, what: name, .noSecret))
        continue
      }
      guard !text.holds("${", at: value.lowerBound), !text.holds("coffer://", at: value.lowerBound) else {
        result.lost.append(LostPart(line: line.number, what: name, .elsewhere))
        continue
      }
      let index = indices[place] ?? registries.count
      if index == registries.count {
        indices[place] = index
        registries.append((place, Registry(line: line.number)))
      }
      registries[index].registry.take(key, value, text)
    }
    for (place, registry) in registries {
      let items = try items(of: registry, at: place, text)
      if items.isEmpty { result.lost.append(LostPart(line: registry.line, what: place, .noSecret)) }
      result.items += items
    }
    return result
  }

  private static let keys = ["_authToken", "_auth", "_password", "username", "email", "certfile", "keyfile"]

  /// The registry and the key of a setting that is part of a credential. Returns nil for another one.
  private static func credential(_ name: String) -> (place: String, key: String)? {
    guard name.hasPrefix("//"), let colon = name.lastIndex(of: ":") else {
      // As npm before version 9 wrote them, for its own registry.
      return name.hasPrefix("_") && keys.contains(name) ? ("registry.npmjs.org", name) : nil
    }
    let key = String(name[name.index(after: colon)...])
    guard keys.contains(key) else { return nil }
    var place = name[..<colon].dropFirst(2)
    while place.last == "/" { place.removeLast() }
    return (String(place), key)
  }

  private static func items(of registry: Registry, at place: String, _ text: SourceText) throws -> [ForeignItem] {
    var items: [ForeignItem] = []
    func add(_ account: String, _ secret: HeldSecret, _ value: Range<Int>) {
      var item = ForeignItem(Item(service: place, account: account), secret, line: registry.line, value: value)
      item.item[ForeignItem.kind] = "npm"
      for other in registry.others { item.set("npm.\(other.name)", to: other.value) }
      items.append(item)
    }
    if let token = registry.token { add(registry.user ?? "_authToken", try text.secret(token), token) }
    if let password = registry.password {
      add(registry.user ?? "_password", try text.base64Decoded(password), password)
    }
    if let both = registry.both {
      guard let (user, secret) = try text.base64Decoded(both).divided(at: UInt8(ascii: ":")) else {
        throw ForeignError(.base64Malformed, line: text.line(of: both.lowerBound), "_auth")
      }
      add(user, secret, both)
    }
    return items
  }
}

extension SourceText {
  /// - Throws: `base64Malformed`, `fieldTooLarge`.
  func base64Decoded(_ range: Range<Int>) throws -> HeldSecret {
    guard let decoded = try Base64.decode(secret(range).secret) else {
      throw ForeignError(.base64Malformed, line: line(of: range.lowerBound))
    }
    return HeldSecret(decoded)
  }

  /// The text between quotes, if there are some.
  fileprivate func unquoted(_ range: Range<Int>) -> Range<Int> {
    guard range.count >= 2, self[range.lowerBound] == self[range.upperBound - 1],
      self[range.lowerBound] == UInt8(ascii: "\"") || self[range.lowerBound] == UInt8(ascii: "'")
    else { return range }
    return range.lowerBound + 1..<range.upperBound - 1
  }
}
