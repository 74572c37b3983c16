public import PropertyLists

extension FileDomain {
  /// Sets a value, or removes it where the new one is nil. Setting an equal value writes nothing and tells nobody.
  /// - Throws: `keyTooLong`, `valueTooLarge`, `valueTooDeep`, `domainTooLarge`; `busy`, `full`, `accessDenied`, `readOnly`, … where the
  ///   files cannot be written: then nothing has changed.
  public func set(_ value: PropertyListValue?, forKey key: String) throws(PreferenceError) {
    try Self.check(key, value)
    // What is so already at this moment need not be made so.
    if isSaved(value, forKey: key) { return }
    try change { state in state.entries([(key, value)]) }
  }

  /// Sets and removes several values at once: others see all of it or nothing.
  /// - Throws: as `set`.
  public func apply(_ edits: [(key: String, value: PropertyListValue?)]) throws(PreferenceError) {
    for edit in edits { try Self.check(edit.key, edit.value) }
    try change { state in state.entries(edits) }
  }

  /// Replaces the whole domain at once.
  /// - Throws: as `set`.
  public func replaceAll(with values: PropertyListDictionary) throws(PreferenceError) {
    for (key, value) in values.unsorted { try Self.check(key, value) }
    try change { state in
      state.values.entries(to: values)
    }
  }

  /// Changes one value that depends on what it was, as a counter does. No other process writes in between.
  /// - Parameter body: Must not use this domain.
  /// - Throws: as `set`.
  public func update(_ key: String, _ body: (PropertyListValue?) -> PropertyListValue?) throws(PreferenceError) {
    try change { state throws(PreferenceError) in
      let new = body(state.value(forKey: key))
      try Self.check(key, new)
      return state.entries([(key, new)])
    }
  }

  /// As `set`; but where the files cannot be written the value is kept in the memory of this process, which sees it from then on, and
  /// is written as soon as that is possible. What is too large is refused.
  /// - Returns: Why the value is not in the files.
  public func keep(_ value: PropertyListValue?, forKey key: String) -> PreferenceError? {
    do throws(PreferenceError) {
      try set(value, forKey: key)
      return nil
    } catch {
      guard !error.code.isRefusal else { return error }
      let (old, isFirst) = withState { state in
        defer { state.unsaved[.init(key)] = .some(value) }
        return (state.value(forKey: key), state.unsaved.isEmpty)
      }
      noteUnsaved()
      if isFirst { PreferenceEvent.report([.unsaved(domain: name.name, error)]) }
      if old != value { observers.notify(PreferenceChange(origin: .thisProcess, keys: [.init(key, old: old, new: value)])) }
      return error
    }
  }

  private func change(
    _ entries: (inout DomainState) throws(PreferenceError) -> [JournalRecord.Entry]
  ) throws(PreferenceError) {
    // Where the files could not be written a moment ago nobody waits for them again.
    try edit(timeout: hasUnsaved ? 0 : options.timeout) { state, _ throws(PreferenceError) in
      let entries = try entries(&state)
      try state.checkSize(entries)
      return entries
    }
  }

  private static func check(_ key: String, _ value: PropertyListValue?) throws(PreferenceError) {
    guard key.utf8.count <= PreferenceLimits.keyByteCount else {
      throw PreferenceError(
        .keyTooLong, "\(key.prefix(40))…: \(key.utf8.count) bytes, \(PreferenceLimits.keyByteCount) are allowed")
    }
    guard let value else { return }
    guard let count = ValueCoding.byteCount(value) else { throw PreferenceError(.valueTooDeep, key) }
    guard count <= PreferenceLimits.valueByteCount else {
      throw PreferenceError(.valueTooLarge, "\(key): \(count) bytes, \(PreferenceLimits.valueByteCount) are allowed")
    }
  }
}

extension DomainState {
  /// What is not so already.
  func entries(_ edits: [(key: String, value: PropertyListValue?)]) -> [JournalRecord.Entry] {
    edits.compactMap { edit in
      guard value(forKey: edit.key) != edit.value || !unsaved.isEmpty else { return nil }
      return edit.value.map { .set(edit.key, $0) } ?? .remove(edit.key)
    }
  }

  func checkSize(_ entries: [JournalRecord.Entry]) throws(PreferenceError) {
    var count = image.byteCount
    for entry in entries {
      switch entry {
      case .set(let key, let value):
        let growth = JournalImage.byteCount(key, value) - JournalImage.byteCount(key, image.values[key])
        count += growth
        guard growth <= 0 || count <= PreferenceLimits.domainByteCount else {
          throw PreferenceError(
            .domainTooLarge, "\(key): the domain would have \(count) bytes, \(PreferenceLimits.domainByteCount) are allowed")
        }
      case .remove(let key): count -= JournalImage.byteCount(key, image.values[key])
      case .exported: break
      }
    }
  }
}

extension PreferenceError.Code {
  /// Whether trying again would not help.
  var isRefusal: Bool { [.keyTooLong, .valueTooLarge, .valueTooDeep, .domainTooLarge, .unsafeName].contains(self) }
}
