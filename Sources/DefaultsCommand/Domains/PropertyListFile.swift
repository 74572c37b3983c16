internal import CofferPropertyLists

/// A property list that no program keeps a journal beside: read, changed and replaced as a whole, under a lock on the file
/// itself.
struct PropertyListFile: EditableDomain {
  let name: String
  private let path: String

  /// - Parameter path: with `.plist`.
  init(named name: String, at path: String) {
    self.name = name
    self.path = path
  }

  func isThere() throws -> Bool { try LockedFile.content(of: path) != nil }

  func values() throws -> PropertyListDictionary {
    try LockedFile.content(of: path).map { try parse($0).values } ?? PropertyListDictionary()
  }

  func value(forKey key: String) throws -> PropertyListValue? { try values()[key] }

  func apply(_ edits: [(key: String, value: PropertyListValue?)]) throws {
    try change { values in for edit in edits { values[edit.key] = edit.value } }
  }

  func replaceAll(with new: PropertyListDictionary) throws {
    try change { $0 = new }
  }

  func update(_ key: String, _ body: (PropertyListValue?) throws -> PropertyListValue?) throws {
    try change { values in values[key] = try body(values[key]) }
  }

  func rename(_ old: String, to new: String, _ check: (PropertyListValue?) throws -> Void) throws {
    try change { values in
      let value = values[old]
      try check(value)
      guard let value else { return }
      values[old] = nil
      values[new] = value
    }
  }

  /// A file that cannot be parsed is never replaced. An unchanged content is not written.
  private func change(_ body: (inout PropertyListDictionary) throws -> Void) throws {
    try LockedFile.replace(path) { bytes in
      let (old, format) = try bytes.map { try parse($0) } ?? (PropertyListDictionary(), nil)
      var new = old
      try body(&new)
      guard new != old else { return nil }
      // Binary stays binary; the old style cannot be written.
      return try format == .binary ? PropertyList.write(.dictionary(new), .binary) : PropertyList.writeExactly(.dictionary(new))
    }
  }

  private func parse(_ bytes: [UInt8]) throws -> (values: PropertyListDictionary, format: PropertyList.Format?) {
    do {
      let (value, format) = try PropertyList.read(bytes)
      guard case .dictionary(let values) = value else {
        throw DefaultsFailure.failed("\(path): is a property list, but no dictionary")
      }
      return (values, format)
    } catch let error as PropertyListError {
      throw DefaultsFailure.failed(
        "\(path): is not a property list (\(error.code.name)\(error.detail.isEmpty ? "" : ": \(error.detail)"))",
        hint: "it stays as it is; repair it or put it away")
    }
  }
}
