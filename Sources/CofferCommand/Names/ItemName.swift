package import CofferConsole

/// The name of an item on the command line: `service/account`, `coffer://group/service/account#field`, or the URL of a service.
package struct ItemName: Hashable, Sendable {
  /// The longest name that the vault takes, in bytes of UTF-8.
  static let longest = 1024

  package var group: String?
  package var service: String
  /// nil if only a service was given, which is not the same as an empty account.
  package var account: String?
  /// The attribute that is meant instead of the secret.
  package var field: String?
  /// The parts of a URL beside host and account.
  var url: ItemURL?

  package init(group: String? = nil, service: String, account: String? = nil, field: String? = nil) throws(Failure) {
    self.group = group
    self.service = service
    self.account = account
    self.field = field
    try Self.check(service, "service")
    for (part, what) in [(group, "group"), (account, "account"), (field, "field")] {
      if let part { try Self.check(part, what) }
    }
  }

  /// - Throws: usage, with a reason of its own for each way to be no name.
  package init(parsing text: String) throws(Failure) {
    if text.hasPrefix("coffer://") {
      self = try Self.parseURI(text)
      return
    }
    guard !text.isEmpty else { throw .usage("name: empty", hint: Self.form) }
    if let url = try ItemURL(text) {
      try self.init(service: url.host, account: url.account)
      self.url = url
      return
    }
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard !parts[0].isEmpty else {
      throw .usage(
        "name \"\(text)\": nothing before the first /", hint: "--service and --account take any value, also an empty one")
    }
    try self.init(service: String(parts[0]), account: parts.count == 2 ? String(parts[1]) : nil)
  }

  static func isURL(_ text: String) -> Bool { text.contains("://") }

  private static let form = "a name is SERVICE/ACCOUNT or coffer://GROUP/SERVICE/ACCOUNT"

  private static func parseURI(_ text: String) throws(Failure) -> ItemName {
    let rest = text.dropFirst("coffer://".count)
    let halves = rest.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let parts = halves[0].split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw .usage("name \"\(text)\": needs a group and a service", hint: form)
    }
    guard !halves[0].contains("?") else {
      throw .usage("name \"\(text)\": a ? must be written %3F", hint: form)
    }
    return try ItemName(
      group: PercentEncoding.decode(parts[0]), service: PercentEncoding.decode(parts[1]),
      account: parts.count == 3 ? PercentEncoding.decode(parts[2]) : nil,
      field: halves.count == 2 ? PercentEncoding.decode(halves[1]) : nil)
  }

  /// The rules that the vault has for names, checked before anything is opened or asked.
  static func check(_ text: String, _ what: String) throws(Failure) {
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0: throw .usage("\(what): holds a NUL", hint: "names are text without control characters")
      case 0x0A, 0x0D: throw .usage("\(what): holds a line break", hint: "a text of several lines goes into --comment")
      case 1..<0x20, 0x7F..<0xA0:
        throw .usage(
          "\(what): holds the control character \(hexadecimal(scalar))", hint: "names are text without control characters")
      default: break
      }
    }
    guard text.utf8.count <= longest else {
      throw .usage("\(what): \(text.utf8.count) bytes long, \(longest) are allowed", hint: "a longer text goes into --comment")
    }
  }

  private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

extension ItemName: CustomStringConvertible {
  /// As it would be typed.
  package var description: String {
    let plain = account.map { "\(service)/\($0)" } ?? service
    return group.map { "\(plain) in group \($0)" } ?? plain
  }
}
