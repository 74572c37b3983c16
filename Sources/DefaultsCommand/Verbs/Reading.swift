import CofferConsole
internal import CofferPropertyLists

extension DefaultsSession {
  func readAll() throws {
    let (domains, failures) = try store.everything()
    let all = domains.reduce(into: PropertyListDictionary()) { $0[$1.title] = .dictionary($1.values) }
    try print(isJSON ? JSON(all).description : ValueDescription.text(.dictionary(all)))
    try DefaultsFailure.raise(failures)
  }

  func read(_ domain: DefaultsInvocation.Domain) throws {
    let domain = try store.domain(domain)
    let values = try domain.values()
    guard !values.isEmpty else { throw DefaultsFailure.said("Domain \(domain.title) does not exist") }
    try print(isJSON ? JSON(values).description : ValueDescription.text(.dictionary(values)))
  }

  func read(_ domain: DefaultsInvocation.Domain, _ key: String) throws {
    let value = try value(domain, key)
    try print(isJSON ? JSON(value).description : ValueDescription.text(value))
  }

  func readType(_ domain: DefaultsInvocation.Domain, _ key: String) throws {
    let name = try value(domain, key).typeName
    try print(isJSON ? JSON.text(name).description : "Type is \(name)")
  }

  private func value(_ domain: DefaultsInvocation.Domain, _ key: String) throws -> PropertyListValue {
    let domain = try store.domain(domain)
    guard let value = try domain.value(forKey: key) else {
      throw DefaultsFailure.said("The domain/default pair of (\(domain.name), \(key)) does not exist")
    }
    return value
  }

  /// The names of all domains that hold a value, but for the global one.
  func listDomains() throws {
    let (domains, failures) = try store.everything()
    let names = domains.filter { !$0.isGlobal }.map(\.name)
    try print(isJSON ? JSON.array(names.map { .text($0) }).description : names.joined(separator: ", "))
    try DefaultsFailure.raise(failures)
  }

  /// All keys of a domain whose name has the word in it; elsewhere those where it is in the key, or in a text or a key inside the value.
  /// Nothing found is not an error.
  func find(_ word: String) throws {
    let (domains, failures) = try store.everything()
    let part = word.lowercased()
    var objects: [JSON] = []
    for domain in domains {
      var found = PropertyListDictionary()
      for (key, value) in domain.values.sorted
      where domain.name.has(part) || key.has(part) || value.has(part) {
        found[key] = value
      }
      guard !found.isEmpty else { continue }
      if isJSON {
        objects.append(.object([("domain", .text(domain.title)), ("values", JSON(found))]))
      } else {
        try print("Found \(found.count) keys in domain '\(domain.title)': \(ValueDescription.text(.dictionary(found)))")
        objects.append(.null)
      }
    }
    if isJSON {
      try print(JSON.array(objects).description)
    } else if objects.isEmpty {
      Descriptor.error.note("No domain, key, nor value containing '\(word)'\n")
    }
    try DefaultsFailure.raise(failures)
  }
}

extension String {
  /// - Parameter part: in lower case. The empty text is in no other.
  fileprivate func has(_ part: String) -> Bool { !part.isEmpty && lowercased().contains(part) }
}

extension PropertyListValue {
  fileprivate func has(_ part: String) -> Bool {
    switch self {
    case .string(let text): text.has(part)
    case .array(let elements): elements.contains { $0.has(part) }
    case .dictionary(let dictionary): dictionary.sorted.contains { $0.key.has(part) || $0.value.has(part) }
    case .integer, .unsigned, .real, .boolean, .date, .data, .uid: false
    }
  }
}
