import CofferConsole
internal import CofferPreferences
internal import CofferPropertyLists
internal import LeakDetection

extension DefaultsSession {
  func write(_ domain: DefaultsInvocation.Domain, _ key: String, _ edit: DefaultsInvocation.Edit) throws {
    let domain = try store.domain(domain)
    switch edit {
    case .setInput(let type):
      let value = try Self.input(type)
      try refuseSecrets([(key, value)], domain)
      try domain.apply([(key, value)])
    case .set(let value):
      try refuseSecrets([(key, value)], domain)
      try domain.apply([(key, value)])
    case .append(let elements):
      try refuseSecrets([(key, .array(elements))], domain)
      try domain.update(key) { old in
        switch old {
        case .array(let old): return .array(old + elements)
        case nil: return .array(elements)
        default:
          throw DefaultsFailure.said("Value for key \(key) is not an array; cannot append.  Leaving defaults unchanged.")
        }
      }
    case .merge(let entries):
      try refuseSecrets([(key, .dictionary(entries))], domain)
      try domain.update(key) { old in
        switch old {
        case .dictionary(let old): return .dictionary(entries.sorted.reduce(into: old) { $0[$1.key] = $1.value })
        case nil: return .dictionary(entries)
        default:
          throw DefaultsFailure.said("Value for key \(key) is not a dictionary; cannot append.  Leaving defaults unchanged.")
        }
      }
    }
  }

  /// As if it stood among the arguments: without a line end behind it.
  private static func input(_ type: String?) throws -> PropertyListValue {
    // No digit of data is half a byte, and there is no room for more than one line end.
    var bytes = try Descriptor.input.contents(limit: 2 * PreferenceLimits.valueByteCount + 2)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw DefaultsFailure.usage(
        "standard input: not valid UTF-8", hint: "bytes that are not text go in as -data, in hexadecimal digits")
    }
    return try type.map { try ValueParser.typed($0, text) } ?? ValueParser.propertyList(text)
  }

  func replace(_ domain: DefaultsInvocation.Domain, _ values: PropertyListDictionary) throws {
    let domain = try store.domain(domain)
    try refuseSecrets(values.sorted, domain)
    try domain.replaceAll(with: values)
  }

  func rename(_ domain: DefaultsInvocation.Domain, _ old: String, _ new: String) throws {
    let domain = try store.domain(domain)
    try domain.rename(old, to: new) { value in
      guard let value else {
        throw DefaultsFailure.said("Key \(old) does not exist in domain \(domain.title); leaving defaults unchanged")
      }
      // A value may look like a secret under another name. If it did before, renaming makes it no less safe.
      if LeakDetector.findings(key: old, value: value).isEmpty { try refuseSecrets([(new, value)], domain) }
    }
  }

  func delete(_ domain: DefaultsInvocation.Domain) throws {
    let domain = try store.domain(domain)
    guard try !domain.values().isEmpty else { throw Self.notFound(domain) }
    try domain.replaceAll(with: PropertyListDictionary())
  }

  func delete(_ domain: DefaultsInvocation.Domain, _ key: String) throws {
    let domain = try store.domain(domain)
    guard try domain.value(forKey: key) != nil else { throw Self.notFound(domain) }
    try domain.apply([(key, nil)])
  }

  private static func notFound(_ domain: any EditableDomain) -> DefaultsFailure {
    .said("Domain (\(domain.name)) not found.\nDefaults have not been changed.")
  }
}
