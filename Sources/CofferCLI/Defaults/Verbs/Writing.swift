internal import LeakDetection
internal import PropertyLists

extension DefaultsSession {
  func write(_ domain: DefaultsInvocation.Domain, _ key: String, _ edit: DefaultsInvocation.Edit) throws {
    let domain = try store.domain(domain)
    switch edit {
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
      // Another name can make a secret of a value. What was one before is no less safe afterwards.
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
