import CofferConsole
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
        guard let number = UInt64(text) else { throw .usage("--attr \(name): \"\(text)\" is not a whole number") }
        return .integer(number)
      case .time:
        guard let seconds = Int64(text) else {
          throw .usage(
            "--attr \(name): \"\(text)\" is not a time", hint: "seconds since 1970-01-01 UTC: $(date +%s -d 2030-01-01)")
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

  /// The primary attributes that a name on the command line sets: `service/account`, or what comes closest to it.
  static func named(_ itemClass: ItemClass) -> (service: String, account: String?) {
    switch itemClass {
    case .genericPassword: ("service", "account")
    case .internetPassword: ("server", "account")
    case .key: ("application-label", "application-tag")
    case .certificate: ("issuer", "serial-number")
    case .note: ("title", nil)
    }
  }

  /// The name under which the vault keeps it: those of the class and the common ones as they are, all others as the user's own.
  static func stored(_ name: String, _ itemClass: ItemClass) -> String {
    let isStandard =
      itemClass.primaryAttributes.contains { $0.name == name } || ["label", "comment", Item.confirm].contains(name)
      || !isSettable(name)
    return isStandard || name.hasPrefix(Item.userPrefix) ? name : Item.userPrefix + name
  }

  static func isSettable(_ name: String) -> Bool {
    !["created", "modified", "class", Item.installBound].contains(name)
  }

  static func kind(of name: String, in itemClass: ItemClass) -> Kind {
    if name == Item.confirm { return .integer }
    return switch itemClass.primaryAttributes.first(where: { $0.name == name })?.absent {
    case .data: .data
    case .integer: .integer
    case .time: .time
    case .text, nil: .text
    }
  }
}

extension ItemName {
  /// An item of `itemClass` with this name.
  /// - Throws: usage, where the class has no room for an account.
  func item(_ itemClass: ItemClass) throws(Failure) -> Item {
    var item = Item(itemClass)
    let names = AttributeName.named(itemClass)
    try item.set(names.service, to: service)
    if let url { try item.set(url) }
    guard let account else { return item }
    guard let name = names.account else {
      throw .usage("name \"\(service)/\(account)\": a note has a title only", hint: "--service takes a title with a / in it")
    }
    try item.set(name, to: account)
    return item
  }

  /// The name of an item in the vault.
  static func parts(of item: Item) -> (service: String, account: String) {
    let names = AttributeName.named(item.itemClass)
    return (item.attributes[names.service]?.text ?? "", names.account.flatMap { item.attributes[$0]?.text } ?? "")
  }
}

extension Item {
  /// An internet password has an attribute for each part of a URL. For the other classes the port belongs to the service.
  fileprivate mutating func set(_ url: ItemURL) throws(Failure) {
    guard itemClass == .internetPassword else {
      guard url.path == nil else {
        throw .usage(
          "name: a URL with a user and a path", hint: "--class internet-password has room for both; else leave one out")
      }
      if let port = url.port { try set(AttributeName.named(itemClass).service, to: "\(url.host):\(port)") }
      return
    }
    attributes["protocol"] = .text(url.scheme)
    attributes["port"] = url.port.map { .integer($0) }
    attributes["path"] = url.path.map { .text($0) }
  }

  /// The empty text is an absent attribute.
  fileprivate mutating func set(_ name: String, to text: String) throws(Failure) {
    attributes[name] = text.isEmpty ? nil : try AttributeName.kind(of: name, in: itemClass).parse(text, name)
  }
}
