public import CofferPreferences
internal import CofferPropertyLists
internal import Foundation
internal import LeakDetection

extension UserDefaults {
  func write(_ value: PropertyListValue?, _ key: String) {
    do throws(PreferenceError) {
      try Self.checkForSecret(value, key, application.name)
    } catch {
      return Diagnostics.notSaved(error, application.name)
    }
    if let error = application.own.keep(value, forKey: key) { Diagnostics.notSaved(error, application.name) }
  }

  /// - Throws: `looksLikeSecret`, if the policy refuses one of the values.
  static func checkForSecret(_ value: PropertyListValue?, _ key: String, _ domain: DomainName) throws(PreferenceError) {
    let policy = secretPolicy
    guard policy != .allow, let value, let finding = LeakDetector.findings(key: key, value: value).first else { return }
    guard policy == .warn else { throw PreferenceError(.looksLikeSecret, "\(finding.path): \(finding.rule)") }
    Diagnostics.looksLikeSecret(finding.path, finding.rule, domain)
  }

  /// As `set(_:forKey:)`, but throws if the value cannot be stored. Then nothing has changed.
  /// - Throws: `notAPropertyList` with Apple's text; `valueTooLarge`, `domainTooLarge`, `keyTooLong`, `valueTooDeep`;
  ///   `looksLikeSecret` if `secretPolicy` refuses the value; `full`, `accessDenied`, `readOnly`, … if the files cannot be
  ///   written.
  public func store(_ value: Any?, forKey key: String) throws(PreferenceError) {
    guard let value else { return try application.own.set(nil, forKey: key) }
    let stored = try PropertyListValue(storing: value, forKey: key)
    try Self.checkForSecret(stored, key, application.name)
    try application.own.set(stored, forKey: key)
  }

  /// Sets, in one transaction, those of the values whose keys have no value in any place of the search list. Unlike registered
  /// defaults they are stored, so that another default in a later version of the program does not change them.
  /// - Returns: The keys that were set.
  /// - Throws: As `store(_:forKey:)`. Then no key was set.
  @discardableResult
  public func seed(_ values: [String: Any]) throws(PreferenceError) -> [String] {
    let missing = try PropertyListValue.edits(values).filter { list.value(forKey: $0.key) == nil }
    guard !missing.isEmpty else { return [] }
    for (key, value) in missing { try Self.checkForSecret(value, key, application.name) }
    var edits: [(key: String, value: PropertyListValue?)] = []
    try application.own.update(missing.map(\.key)) { own in
      // Another process may have set the key in the meantime.
      edits = missing.filter { own[$0.key] == nil }
      return edits
    }
    return edits.map(\.key)
  }

  func synchronizeDomain() -> Bool {
    do throws(PreferenceError) {
      try application.own.synchronize()
      return true
    } catch {
      Diagnostics.notSynchronized(error, application.name)
      return false
    }
  }

  func post(_ change: SearchListChange) {
    unsafe NotificationCenter.default.post(
      name: Self.didChangeNotification, object: self,
      userInfo: [Self.changedKeys: change.keys, Self.isExternal: change.origin == .otherProcess])
  }

  // Boxing the keys for each change would double the time that the dictionary takes.
  nonisolated(unsafe) private static let changedKeys = AnyHashable(changedKeysKey)
  nonisolated(unsafe) private static let isExternal = AnyHashable(isExternalKey)
}
