public import CofferPropertyLists

extension FileDomain {
  /// Sets a value; nil removes it. Setting an equal value writes nothing and notifies no observer.
  /// - Throws: `keyTooLong`, `valueTooLarge`, `valueTooDeep`, `domainTooLarge`; `busy`, `full`, `accessDenied`, `readOnly`, … if
  ///   the files cannot be written. Then nothing has changed.
  public func set(_ value: PropertyListValue?, forKey key: String) throws(PreferenceError) {
    try check(key, value)
    let key = PropertyListDictionary.Key(key)
    // An equal value on the disk need not be written.
    let (isSaved, hasUnsaved) = withState { ($0.isSaved(value, forKey: key), !$0.unsaved.isEmpty) }
    if isSaved { return }
    try change(hasUnsaved: hasUnsaved) { state in state.entry(key, value).map { [$0] } ?? [] }
  }

  /// Sets and removes several values in one transaction: other processes see all of the changes or none.
  /// - Throws: as `set`.
  public func apply(_ edits: [(key: String, value: PropertyListValue?)]) throws(PreferenceError) {
    for edit in edits { try check(edit.key, edit.value) }
    try change { state in state.entries(edits) }
  }

  /// Replaces the whole domain in one transaction.
  /// - Throws: as `set`.
  public func replaceAll(with values: PropertyListDictionary) throws(PreferenceError) {
    for (key, value) in values.unsorted { try check(key, value) }
    try change { state throws(PreferenceError) in
      try state.complete()
      return state.values.entries(to: values)
    }
  }

  /// Changes one value depending on its previous one, as a counter does. No other process writes in between.
  /// - Parameter body: Must not use this domain.
  /// - Throws: as `set`.
  public func update(_ key: String, _ body: (PropertyListValue?) -> PropertyListValue?) throws(PreferenceError) {
    try change { state throws(PreferenceError) in
      let key = PropertyListDictionary.Key(key)
      state.fetch(key)
      let new = body(state.value(forKey: key))
      try check(key.name, new)
      return state.entry(key, new).map { [$0] } ?? []
    }
  }

  /// Changes several values depending on their previous ones, in one transaction. No other process writes in between.
  /// - Parameter body: Gets the values of those of the keys that have one. Must not use this domain.
  /// - Throws: as `set`.
  public func update(
    _ keys: [String], _ body: (PropertyListDictionary) -> [(key: String, value: PropertyListValue?)]
  ) throws(PreferenceError) {
    try change { state throws(PreferenceError) in
      var values = PropertyListDictionary()
      for name in keys {
        let key = PropertyListDictionary.Key(name)
        state.fetch(key)
        values[key] = state.value(forKey: key)
      }
      let edits = body(values)
      for edit in edits { try check(edit.key, edit.value) }
      return state.entries(edits)
    }
  }

  /// Moves a value to another key, replacing that key's value, in one transaction. No other process writes in between.
  /// - Parameter isWanted: Called with the value, or nil if there is none. Must not use this domain.
  /// - Throws: as `set`.
  public func rename(_ old: String, to new: String, if isWanted: (PropertyListValue?) -> Bool) throws(PreferenceError) {
    try change { state throws(PreferenceError) in
      let (old, new) = (PropertyListDictionary.Key(old), PropertyListDictionary.Key(new))
      state.fetch(old)
      let value = state.value(forKey: old)
      guard isWanted(value), let value, old != new else { return [] }
      try check(new.name, value)
      return [state.entry(old, nil), state.entry(new, value)].compactMap { $0 }
    }
  }

  /// As `set`; but if the files cannot be written, the value is kept in the memory of this process, which reads it from then on,
  /// and is written as soon as possible. Values beyond the limits are refused.
  /// - Returns: The reason why the value is not in the files; nil if it is.
  public func keep(_ value: PropertyListValue?, forKey key: String) -> PreferenceError? {
    do throws(PreferenceError) {
      try set(value, forKey: key)
      return nil
    } catch {
      guard !error.code.isRefusal else { return error }
      let (old, isFirst) = withState { state in
        let key = PropertyListDictionary.Key(key)
        state.fetch(key)
        let (old, isFirst) = (state.value(forKey: key), state.unsaved.isEmpty)
        noteForeignChanges(&state)
        state.unsaved[key] = .some(value)
        if old != value { observers.note(.thisProcess, [.init(key.name, old: old, new: value)]) }
        return (old, isFirst)
      }
      noteUnsaved()
      if isFirst { PreferenceEvent.report([.unsaved(domain: name.name, error)]) }
      if old != value { observers.tell(.thisProcess, [key]) }
      return error
    }
  }

  private func change(
    hasUnsaved: Bool? = nil, _ entries: (inout DomainState) throws(PreferenceError) -> [JournalRecord.Entry]
  ) throws(PreferenceError) {
    // If an earlier write failed, do not wait for the lock again.
    try edit(timeout: hasUnsaved ?? self.hasUnsaved ? 0 : options.timeout) { state, _ throws(PreferenceError) in
      let entries = try entries(&state)
      try state.checkSize(entries, options.limits)
      return entries
    }
  }

  private func check(_ key: String, _ value: PropertyListValue?) throws(PreferenceError) {
    let limits = options.limits
    guard key.utf8.count <= limits.keyByteCount else {
      throw PreferenceError(.keyTooLong, "\(key.prefix(40))…: \(key.utf8.count) bytes, \(limits.keyByteCount) are allowed")
    }
    guard let value else { return }
    guard let count = ValueCoding.byteCount(value) else { throw PreferenceError(.valueTooDeep, key) }
    guard count <= limits.valueByteCount else {
      throw PreferenceError(.valueTooLarge, "\(key): \(count) bytes, \(limits.valueByteCount) are allowed")
    }
  }
}

extension DomainState {
  /// Whether setting the value would write nothing.
  mutating func isSaved(_ value: PropertyListValue?, forKey key: PropertyListDictionary.Key) -> Bool {
    fetch(key)
    return problem == nil && unsaved.isEmpty && image.values[key] == value
  }

  /// Whether the entry agrees with the journal as this process has read it.
  func holds(_ entry: JournalRecord.Entry) -> Bool {
    switch entry {
    case .set(let key, let value): image.values[key] == value
    case .remove(let key): image.values[key] == nil
    case .exported, .index: true
    }
  }

  /// Returns nil if the value is equal already.
  mutating func entry(_ key: PropertyListDictionary.Key, _ value: PropertyListValue?) -> JournalRecord.Entry? {
    fetch(key)
    guard value != self.value(forKey: key) || !unsaved.isEmpty else { return nil }
    return value.map { .set(key, $0) } ?? .remove(key)
  }

  /// If a key is repeated, its last edit is used.
  mutating func entries(_ edits: [(key: String, value: PropertyListValue?)]) -> [JournalRecord.Entry] {
    var last: [PropertyListDictionary.Key: PropertyListValue?] = [:]
    for edit in edits { last[.init(edit.key)] = .some(edit.value) }
    return last.sorted { $0.key < $1.key }.compactMap { entry($0.key, $0.value) }
  }

  mutating func checkSize(_ entries: [JournalRecord.Entry], _ limits: PreferenceLimits.OfDomain) throws(PreferenceError) {
    if limits.keyCount != .max { try checkCount(entries, limits.keyCount) }
    // Usually far below the limit, which needs no look-up of old values.
    let most = entries.reduce(image.byteCount) { sum, entry in
      if case .set(let key, let value) = entry { sum + JournalImage.byteCount(key, value) } else { sum }
    }
    guard most > limits.byteCount else { return }
    func size(_ key: PropertyListDictionary.Key, _ value: PropertyListValue?) -> Int {
      JournalImage.byteCount(key, value) - (limits.areKeysCounted || value == nil ? 0 : key.name.utf8.count)
    }
    var count = limits.areKeysCounted ? image.byteCount : image.values.entries.reduce(0) { $0 + size($1.key, $1.value) }
    for entry in entries {
      switch entry {
      case .set(let key, let value):
        let growth = size(key, value) - size(key, image.values[key])
        count += growth
        guard growth <= 0 || count <= limits.byteCount else {
          throw PreferenceError(
            .domainTooLarge, "\(key.name): the domain would have \(count) bytes, \(limits.byteCount) are allowed")
        }
      case .remove(let key): count -= size(key, image.values[key])
      case .exported, .index: break
      }
    }
  }

  private mutating func checkCount(_ entries: [JournalRecord.Entry], _ limit: Int) throws(PreferenceError) {
    try complete()
    var count = image.values.count
    for entry in entries {
      switch entry {
      case .set(let key, _) where image.values[key] == nil:
        count += 1
        guard count <= limit else {
          throw PreferenceError(.domainTooLarge, "\(key.name): the domain would have \(count) keys, \(limit) are allowed")
        }
      case .remove(let key) where image.values[key] != nil: count -= 1
      case .set, .remove, .exported, .index: break
      }
    }
  }
}

extension PreferenceError.Code {
  /// Whether the reason may be gone at the next attempt, without a change of the files.
  var mayPass: Bool { [.busy, .descriptorsExhausted, .io].contains(self) }

  /// Whether the error is permanent, so that trying again would fail too.
  var isRefusal: Bool { [.keyTooLong, .valueTooLarge, .valueTooDeep, .domainTooLarge, .unsafeName].contains(self) }
}
