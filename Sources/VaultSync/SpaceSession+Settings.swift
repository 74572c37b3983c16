package import CofferSync
package import VaultCore

/// A value of a setting on this machine that the log does not have.
package struct LocalSetting: Sendable {
  package let name: SettingName
  /// As in the journal of settings; nil if it was removed.
  package let value: [UInt8]?
  /// The write whose value this machine had before; nil if it had none.
  package let seen: Identifier?

  /// - Parameters:
  ///   - name: The store and the key.
  ///   - value: As in the journal of settings; nil if it was removed.
  ///   - seen: The write whose value this machine had before; nil if it had none.
  package init(_ name: SettingName, value: [UInt8]?, seen: Identifier?) {
    (self.name, self.value, self.seen) = (name, value, seen)
  }
}

/// A setting that exists in a space, with the changes of this device on top.
package struct SharedSetting: Sendable {
  package let name: SettingName
  /// The shown write of its content.
  package let write: Write

  /// As the quota of its store counts it.
  package var byteCount: Int { write.value.settingByteCount }
}

/// Settings of one person. Their state is that of the replica, in the files that are sealed under a key of the vault.
extension SpaceSession {
  /// - Throws: `notPersonal`.
  package func requirePersonal() throws {
    guard state.settings.isPersonal else { throw SyncError(.notPersonal, keys.space.description) }
  }

  /// Shares the settings of a program that is not installed as an app.
  /// - Throws: `notPersonal`; errors of the files.
  package func allow(_ store: String) throws {
    try requirePersonal()
    try change { $0.settings.allowed.insert(store) }
  }

  /// Ends what `allow` has begun: nothing more is sent or received, and values stay where they are.
  /// - Returns: Whether the store was allowed.
  /// - Throws: `notPersonal`; errors of the files.
  package func disallow(_ store: String) throws -> Bool {
    try requirePersonal()
    guard state.settings.allowed.contains(store) else { return false }
    try change { $0.settings.allowed.remove(store) }
    return true
  }

  /// Notes that a store of this machine has met the log.
  /// - Throws: errors of the files.
  package func noteMeeting(of store: String) throws {
    guard !state.settings.met.contains(store) else { return }
    try change { $0.settings.met.insert(store) }
  }

  /// The settings that exist, in the order of their names.
  /// - Parameter store: nil for those of all stores.
  package func settings(of store: String? = nil) -> [SharedSetting] {
    let keys = Set(state.replica.state.entities.keys).union(state.replica.pending.map(\.operation.key))
    return keys.compactMap { key -> SharedSetting? in
      guard key.kind == .setting, let write = shown(key)?.setting,
        // A checkpoint may hold what no operation may.
        let name = try? write.value.settingName, name.tag == key.tag,
        store.map({ $0.utf8.elementsEqual(name.store.utf8) }) ?? true
      else { return nil }
      return SharedSetting(name: name, write: write)
    }.sorted { $0.name < $1.name }
  }

  /// The value of a setting, as in the journal of settings.
  /// - Throws: `objectMissing`; `tag` for an object that does not open or has another length; errors of the engine.
  package func value(of setting: SharedSetting, _ objects: ObjectSource) throws -> [UInt8] {
    try state.replica.setting(of: setting.write.value, objects).value
  }

  /// Fixes changes as operations, before anything is folded. The files have them when it returns.
  /// - Parameter modified: When they were made, in milliseconds since 1970; nil: now. It is never later than now.
  /// - Returns: For each the write that has its value; nil for one that was removed.
  /// - Throws: `notPersonal`; `VoidCause.form` for a value that is empty or too long; errors of the files.
  package func write(_ changes: [LocalSetting], at modified: Int64? = nil, _ objects: ObjectSource) throws -> [Identifier?] {
    try requirePersonal()
    let now = milliseconds()
    let time = min(modified ?? now, now)
    let dots = try changes.map { try write($0, at: time, objects) }
    try saveChanges(of: state.replica)
    return dots
  }

  private func write(_ change: LocalSetting, at time: Int64, _ objects: ObjectSource) throws -> Identifier? {
    let key = EntityKey(.setting, change.name.tag)
    let entity = shown(key)
    let present = entity?.setting
    let seen = seen(change, entity, present)
    // A crash may have kept the store from knowing of the change before. Both may have the time of one tick of the file system's clock.
    let isAfterOwn = state.replica.pending[key].contains { $0.operation.dot == present?.dot }
    let time = isAfterOwn ? max(time, (present?.modified ?? 0) + 1) : time
    guard let value = change.value else {
      // Deletions of settings are never held: a person removes them one by one, or with their app.
      try state.replica.delete([key], ofGroupWith: 1, at: time) { _ in seen }
      return nil
    }
    let content = try SettingContent(change.name, value: value)
    // It was sent before a crash, or both have written the same.
    if let present, hasValue(present, content, objects) { return present.dot }
    return try state.replica.write(content, at: time, seen: seen)
  }

  /// The fold may be ahead of the store: a write that the program has not seen stays, and the later one is the value.
  private func seen(_ change: LocalSetting, _ entity: Entity?, _ present: Write?) -> SeenWrites {
    guard let present, present.dot != change.seen else { return SeenWrites(entity) }
    var seen = SeenWrites()
    if let dot = change.seen { (seen[.content], seen[.life]) = ([dot], [dot]) }
    return seen
  }

  private func hasValue(_ write: Write, _ content: SettingContent, _ objects: ObjectSource) -> Bool {
    if case .clear(let bytes) = write.value { return bytes == content.bytes }
    guard write.value.count == content.value.count else { return false }
    return (try? state.replica.setting(of: write.value, objects)) == content
  }

  /// Removes all settings of a store, on all devices.
  /// - Returns: Their number.
  /// - Throws: `notPersonal`, `notAllowed`; errors of the files.
  package func forget(_ store: String) throws -> Int {
    guard let role = state.replica.membership[state.replica.id]?.role, role <= .member else {
      throw SyncError(.notAllowed, store)
    }
    let settings = settings(of: store)
    _ = try write(settings.map { LocalSetting($0.name, value: nil, seen: $0.write.dot) }) { _ in nil }
    return settings.count
  }

  /// The values of this device that a full store has refused, without those that the engine does not give.
  package func refusedSettings(_ objects: ObjectSource) -> [SettingContent] {
    state.replica.refused.compactMap { operation in
      operation[.content].flatMap { try? state.replica.setting(of: $0.value, objects) }
    }
  }

  /// - Throws: errors of the files.
  func forgetRefusedSettings() throws {
    guard !state.replica.refused.isEmpty else { return }
    try change { $0.replica.forgetRefused() }
  }
}

extension Replica {
  /// Whether entries have brought settings since `settle`, or the quota has refused some of this device.
  var hasNewSettings: Bool { !refused.isEmpty || touched?.contains { $0.kind == .setting } ?? true }
}
