import CofferConsole
internal import CofferPreferences
internal import CofferPropertyLists

/// A domain of the preference store, whose programs see a change at once.
struct StoredDomain: EditableDomain {
  let name: String
  let domain: FileDomain

  /// Opens it; makes no files, which only a write does.
  init(
    named name: String, _ domain: DomainName, in directory: PreferenceDirectory,
    _ options: FileDomain.Options = FileDomain.Options()
  ) {
    self.name = name
    var options = options
    options.isCreating = false
    // One value of many: what it takes does not grow with their number.
    options.isSparing = true
    self.domain = FileDomain(domain, in: directory, options)
  }

  /// For an observer, which needs all values at every moment.
  /// - Parameter isNew: Whether the existing values are reported as changes.
  func watched(isNew: Bool) -> FileDomain {
    var options = domain.options
    options.isFromNothing = isNew
    return FileDomain(domain.name, in: domain.directory, options)
  }

  func isThere() throws -> Bool { try !values().isEmpty }

  func values() throws -> PropertyListDictionary {
    let values = domain.values()
    try check()
    return values
  }

  func value(forKey key: String) throws -> PropertyListValue? {
    let value = domain.value(forKey: key)
    // A value that was read is valid even if others are damaged.
    if value == nil { try check() }
    return value
  }

  private func check() throws {
    if let problem = domain.problem { throw DefaultsFailure(problem, about: title) }
  }

  func apply(_ edits: [(key: String, value: PropertyListValue?)]) throws {
    try commit(hasRemoved: edits.contains { $0.value == nil }) { try domain.apply(edits) }
  }

  func replaceAll(with values: PropertyListDictionary) throws {
    try commit(hasRemoved: true) { try domain.replaceAll(with: values) }
  }

  /// All is on the disk at return. The property list of a large domain follows when enough has changed, or when something was
  /// removed: then it is in no file any more.
  private func commit(hasRemoved: Bool, _ change: () throws -> Void) throws {
    try about(domain: title) { try change() }
    do {
      if hasRemoved { try domain.compact() } else { try domain.settle() }
    } catch {
      // The change must be on the disk. A property list that cannot be exported is reported separately.
      do {
        try domain.synchronize()
      } catch {
        throw DefaultsFailure.failed(
          "\(title): \(reason(error)); stored for all programs, but not on the disk yet",
          hint: "mend the cause, and store it again")
      }
      Descriptor.error.note(
        "defaults: warning: stored, but not in the property list\n" + "defaults: \(title): \(reason(error))".escapingControls()
          + "\n")
    }
  }

  /// Without a hint, which would be one for a change that was not made.
  private func reason(_ error: any Error) -> String { DefaultsFailure(error, about: title).reason }

  func update(_ key: String, _ body: (PropertyListValue?) throws -> PropertyListValue?) throws {
    try commit(hasRemoved: false) {
      var failure: (any Error)?
      try domain.update(key) { old in
        do {
          return try body(old)
        } catch {
          failure = error
          return old
        }
      }
      if let failure { throw failure }
    }
  }

  func rename(_ old: String, to new: String, _ check: (PropertyListValue?) throws -> Void) throws {
    // If there is nothing to rename, no file is created.
    guard try value(forKey: old) != nil else { return try check(nil) }
    try commit(hasRemoved: !old.utf8.elementsEqual(new.utf8)) {
      var failure: (any Error)?
      try domain.rename(old, to: new) { value in
        do {
          try check(value)
          return true
        } catch {
          failure = error
          return false
        }
      }
      if let failure { throw failure }
    }
  }
}
