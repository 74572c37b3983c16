import CofferConsole
internal import CofferPropertyLists

extension DefaultsSession {
  /// - Throws: status `failed` without a word where they differ, `trouble` where they could not be compared.
  func diff(_ first: DefaultsInvocation.Domain, _ second: DefaultsInvocation.Domain) throws {
    let difference: DomainDifference
    do {
      difference = DomainDifference(from: try values(first), to: try values(second))
    } catch {
      var failure = DefaultsFailure(error)
      failure.status = .trouble
      throw failure
    }
    if isJSON {
      try print(difference.json.description)
    } else {
      for line in difference.lines { try print(line) }
    }
    if !difference.isEmpty { throw DefaultsFailure.silent }
  }

  /// A missing domain is an error, not an empty domain: one of the two names was mistyped.
  private func values(_ domain: DefaultsInvocation.Domain) throws -> PropertyListDictionary {
    let domain = try store.domain(domain)
    let values = try domain.values()
    guard try !values.isEmpty || domain.isThere() else { throw DefaultsFailure.said("Domain \(domain.title) does not exist") }
    return values
  }
}

/// The difference between two domains, by keys.
struct DomainDifference {
  private(set) var changes: [(key: String, old: PropertyListValue?, new: PropertyListValue?)] = []

  init(from old: PropertyListDictionary, to new: PropertyListDictionary) {
    let keys = old.sorted.map(\.key) + new.sorted.map(\.key).filter { old[$0] == nil }
    for key in keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) where old[key] != new[key] {
      changes.append((key, old[key], new[key]))
    }
  }

  var isEmpty: Bool { changes.isEmpty }

  /// `- key: old` and `+ key: new`, values as JSON on one line.
  var lines: [String] {
    changes.flatMap { change in
      [("-", change.old), ("+", change.new)].compactMap { sign, value in
        value.map { "\(sign) \(change.key.escapingControls()): \(JSON($0).description)" }
      }
    }
  }

  var json: JSON {
    func members(_ isWanted: (PropertyListValue?, PropertyListValue?) -> Bool) -> JSON {
      .object(
        changes.filter { isWanted($0.old, $0.new) }.map { change in
          let both = change.old != nil && change.new != nil
          let (old, new) = (change.old.map { JSON($0) } ?? .null, change.new.map { JSON($0) } ?? .null)
          return (change.key, both ? .object([("old", old), ("new", new)]) : change.old == nil ? new : old)
        })
    }
    return .object([
      ("added", members { old, _ in old == nil }), ("removed", members { _, new in new == nil }),
      ("changed", members { $0 != nil && $1 != nil }),
    ])
  }
}
