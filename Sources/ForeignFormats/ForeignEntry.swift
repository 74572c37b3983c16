internal import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// An entry of a program for passwords. Its parts become an item and its companions.
struct ForeignEntry {
  let line: Int
  var title = ""
  var user = ""
  /// The service, if the file names one. Otherwise it is the host of the first place, or the title.
  var service = ""
  /// The URLs for which it is.
  var places: [String] = []
  var folder = ""
  /// The secret of the item, and its place in the file. nil: none.
  var secret: (held: HeldSecret, range: Range<Int>)?
  /// Passwords before this one, the oldest first.
  var former: [HeldSecret] = []
  /// Texts that the program shows.
  private var texts: [(name: String, text: String)] = []
  /// Secrets beside that of the item.
  private var hidden: [(name: String, secret: HeldSecret)] = []

  private var comment = ""

  /// The texts in which an export has what other programs have no place for.
  static let service = "coffer.service"
  static let comment = "coffer.comment"

  init(line: Int) { self.line = line }

  /// Adds a text that is not secret, and leaves an empty one out.
  mutating func add(_ name: String, text: String) {
    guard !text.isEmpty else { return }
    switch name {
    case Self.service: service = text
    case Self.comment: comment = text
    default: texts.append((name, text))
    }
  }

  /// Adds a further secret, and leaves an empty one out.
  mutating func add(_ name: String, secret: HeldSecret) { if secret.count > 0 { hidden.append((name, secret)) } }

  /// Adds a value of JSON: a text or a number as an attribute, other values as a companion in the words of the file. Leaves out what is
  /// empty or false.
  mutating func add(_ name: String, _ value: JSONText?, in source: SourceText) throws {
    guard let value else { return }
    switch value.value {
    case .string: add(name, text: try value.text(in: source) ?? "")
    case .number: add(name, text: source.text(value.range))
    case .boolean(let isTrue): add(name, text: isTrue ? "true" : "")
    case .array(let elements): if !elements.isEmpty { add(name, secret: try source.secret(value.range)) }
    case .object(let members): if !members.isEmpty { add(name, secret: try source.secret(value.range)) }
    case .null: break
    }
  }

  /// Adds a value of JSON that is hidden.
  mutating func add(_ name: String, hidden value: JSONText?, in source: SourceText) throws {
    guard let secret = try value?.secret(in: source) else { return try add(name, value, in: source) }
    add(name, secret: secret)
  }

  /// Adds a secret for codes, as a URL of the form `otpauth://`.
  mutating func add(otp secret: HeldSecret, parameters: String = "") throws {
    guard secret.count > 0 else { return }
    hidden.append((OneTimeCode.field, try OneTimeCode.uri(of: secret, issuer: name, user: user, parameters: parameters)))
  }

  private var host: String? { places.lazy.compactMap(Self.host).first }

  /// The service of the item.
  var name: String {
    [service, host ?? "", title].first { !$0.isEmpty } ?? "unnamed"
  }

  /// For the list of lost parts.
  var what: String { [title, name].first { !$0.isEmpty } ?? name }

  /// Without a password the first hidden part is the secret, such as the number of a card or a note. Returns nil if there is nothing to
  /// keep.
  func item() throws -> ForeignItem? {
    guard secret != nil || !hidden.isEmpty || !texts.isEmpty else { return nil }
    let instead = secret == nil ? hidden.firstIndex { $0.name != OneTimeCode.field } : nil
    // An item holds the companions together, also without a secret of its own.
    let held = try secret?.held ?? instead.map { hidden[$0].secret } ?? HeldSecret(Secret(count: 0))
    var item = ForeignItem(service: name, account: user, held, line: line, value: secret?.range ?? 0..<0)
    if let instead { item.set("secret-field", to: ForeignName.plain(hidden[instead].name)) }
    var others = hidden
    if let instead { others.remove(at: instead) }
    if title != name { item.item.label = title }
    item.item.comment = comment
    item.folder = folder.isEmpty ? nil : folder
    var names = DistinctNames()
    // Set later.
    if item.folder != nil { _ = names.next("folder") }
    for place in places { item.set(names.next("url"), to: place) }
    for text in texts { item.set(names.next(ForeignName.attribute(text.name)), to: text.text) }
    for other in others { item.add(.init(field: ForeignName.plain(other.name), secret: other.secret)) }
    item.former = Self.withoutRepetition(former + [held]).dropLast()
    return item
  }

  /// A program keeps the whole entry as it was, so that most of its former versions have the same password.
  private static func withoutRepetition(_ secrets: [HeldSecret]) -> [HeldSecret] {
    secrets.indices.filter { $0 == 0 || !secrets[$0].secret.isEqual(to: secrets[$0 - 1].secret) }.map { secrets[$0] }
      .filter { $0.count > 0 || secrets.last?.count == 0 }
  }

  /// The host of a URL, or of a text without a scheme that looks like one, with the port.
  static func host(_ place: String) -> String? {
    var rest = place[...]
    var scheme = ""
    if let mark = rest.firstRange(of: "://") {
      scheme = rest[..<mark.lowerBound].lowercased()
      rest = rest[mark.upperBound...]
    } else if !rest.contains(".") || rest.contains(where: \.isWhitespace) {
      return nil
    }
    rest = rest.prefix { !"/?#".contains($0) }
    if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
    var host = rest.lowercased()
    for (usual, port) in [("https", ":443"), ("http", ":80"), ("ssh", ":22")] where scheme == usual && host.hasSuffix(port) {
      host.removeLast(port.count)
    }
    return host.isEmpty ? nil : host
  }
}

extension ForeignItems {
  /// An entry that has nothing to keep is a lost part.
  mutating func add(_ entry: ForeignEntry) throws {
    guard let item = try entry.item() else {
      lost.append(LostPart(line: entry.line, what: entry.what, .noSecret))
      return
    }
    items.append(item)
  }
}
