import VaultCore

/// The attributes that the classes of items define, and how the command line spells their values.
enum AttributeName {
  enum Kind {
    case text, data, integer, time

    /// - Throws: usage.
    func parse(_ text: String, _ name: String) throws(Failure) -> AttributeValue {
      switch self {
      case .text: return .text(text)
      case .data: return .data(try Self.bytes(text, name))
      case .integer:
        guard let number = UInt64(text) else { throw .usage("--attr \(name): \"\(text)\" is no whole number") }
        return .integer(number)
      case .time:
        guard let seconds = Int64(text) else {
          throw .usage("--attr \(name): \"\(text)\" is no time", hint: "seconds since 1970-01-01 UTC: $(date +%s -d 2030-01-01)")
        }
        return .time(Timestamp(secondsSince1970: seconds))
      }
    }

    /// Text as it is, other bytes after `hex:`.
    private static func bytes(_ text: String, _ name: String) throws(Failure) -> [UInt8] {
      guard text.hasPrefix("hex:") else { return Array(text.utf8) }
      let digits = text.dropFirst(4).map(\.hexDigitValue)
      guard digits.count % 2 == 0 else { throw .usage("--attr \(name): half a byte after hex:") }
      var bytes: [UInt8] = []
      for index in stride(from: 0, to: digits.count, by: 2) {
        guard let high = digits[index], let low = digits[index + 1] else { throw .usage("--attr \(name): not hexadecimal") }
        bytes.append(UInt8(high << 4 | low))
      }
      return bytes
    }
  }

  /// The primary attributes, of which two items of a group must not have the same. The first two are those that a name sets.
  static func primary(_ itemClass: ItemClass) -> [(name: String, kind: Kind)] {
    switch itemClass {
    case .genericPassword: [("service", .text), ("account", .text)]
    case .internetPassword:
      [
        ("server", .text), ("account", .text), ("port", .integer), ("protocol", .text), ("path", .text),
        ("security-domain", .text), ("authentication-type", .text),
      ]
    case .key:
      [
        ("application-label", .data), ("application-tag", .data), ("key-class", .text), ("key-type", .text), ("key-size", .integer),
        ("effective-key-size", .integer), ("creator", .integer), ("start-date", .time), ("end-date", .time),
      ]
    case .certificate: [("issuer", .data), ("serial-number", .data), ("certificate-type", .integer)]
    case .note: [("title", .text)]
    }
  }

  static let userPrefix = "user."

  /// The name under which the vault keeps it: those of the class and the common ones as they are, all others as the user's own.
  static func stored(_ name: String, _ itemClass: ItemClass) -> String {
    let isStandard = primary(itemClass).contains { $0.name == name } || ["label", "comment"].contains(name) || !isSettable(name)
    return isStandard || name.hasPrefix(userPrefix) ? name : userPrefix + name
  }

  static func isSettable(_ name: String) -> Bool {
    !["created", "modified", "class"].contains(name)
  }

  static func kind(of name: String, in itemClass: ItemClass) -> Kind {
    primary(itemClass).first { $0.name == name }?.kind ?? .text
  }
}

extension ItemName {
  /// The attributes of an item of `itemClass` with this name.
  /// - Throws: usage, where the class has no room for an account.
  func attributes(for itemClass: ItemClass) throws(Failure) -> Attributes {
    var attributes = Attributes()
    let primary = AttributeName.primary(itemClass)
    try attributes.set(primary[0], service)
    guard let account else { return attributes }
    guard primary.count > 1 else {
      throw .usage("name \"\(service)/\(account)\": a note has a title only", hint: "--service takes a title with a / in it")
    }
    try attributes.set(primary[1], account)
    return attributes
  }

  /// The name of an item that lies in the vault.
  static func parts(of item: Vault.Item) -> (service: String, account: String) {
    let primary = AttributeName.primary(item.itemClass)
    let service = item.attributes[primary[0].name]?.text ?? ""
    return (service, primary.count > 1 ? item.attributes[primary[1].name]?.text ?? "" : "")
  }
}

extension Attributes {
  /// The vault keeps no empty primary attributes.
  fileprivate mutating func set(_ attribute: (name: String, kind: AttributeName.Kind), _ text: String) throws(Failure) {
    self[attribute.name] = text.isEmpty ? nil : try attribute.kind.parse(text, attribute.name)
  }
}
