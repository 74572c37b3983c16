public import CofferPropertyLists

extension SearchList {
  /// nil if no entry has a value.
  public func value(forKey key: String) -> PropertyListValue? {
    unsafe ThreadSearchCaches.read(key, in: self) { unsafe $0.pointee.value }
  }

  /// As `coercedToInteger`.
  public func integer(forKey key: String) -> Int { unsafe ThreadSearchCaches.read(key, in: self) { unsafe $0.pointee.integer } }

  /// As `coercedToDouble`.
  public func double(forKey key: String) -> Double { unsafe ThreadSearchCaches.read(key, in: self) { unsafe $0.pointee.double } }

  /// As `coercedToFloat`.
  public func float(forKey key: String) -> Float { value(forKey: key)?.coercedToFloat ?? 0 }

  /// As `coercedToBool`.
  public func bool(forKey key: String) -> Bool { unsafe ThreadSearchCaches.read(key, in: self) { unsafe $0.pointee.bool } }

  /// As `coercedToString`.
  public func string(forKey key: String) -> String? { value(forKey: key)?.coercedToString }

  /// The union of all entries, each key with the value that a search finds. The time is proportional to the number of values.
  public func values() -> PropertyListDictionary { structure.values() }

  /// The result of each entry for the key, in search order. The first with a value determines the setting.
  public func explain(_ key: String) -> [SearchFinding] {
    entries.map { SearchFinding(kind: $0.kind, name: $0.name, path: $0.path, value: $0.domain.value(forKey: key)) }
  }

  /// Whether the administrator has set the value, so that setting it here has no effect.
  public func isForced(_ key: String) -> Bool {
    entries.contains { $0.kind == .managed && $0.domain.value(forKey: key) != nil }
  }
}
