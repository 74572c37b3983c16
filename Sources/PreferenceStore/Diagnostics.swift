internal import CofferPreferences
internal import Foundation
internal import Logging

/// Messages about settings in the program's log; by default on standard error.
///
/// Log handlers belong to the program and may do anything, for example read settings. Therefore they run on a queue of their own,
/// outside of the store's locks.
enum Diagnostics {
  private static let logger = Logger(label: "coffer.preferences")
  private static let queue = DispatchQueue(label: "coffer.preferences.diagnostics")
  private static let waiting = DispatchGroup()

  /// Observes the store's events. Repeated calls have no effect.
  static func start() { _ = listening }

  private static let listening: Void = {
    PreferenceEvent.report { event in say { tell(event) } }
    // Write the last messages before the process exits, unless a log handler hangs: wait at most 1 s.
    atexit { _ = Diagnostics.waiting.wait(timeout: .now() + 1) }
  }()

  private static func say(_ body: @escaping @Sendable () -> Void) { queue.async(group: waiting, execute: body) }

  private static func tell(_ event: PreferenceEvent) {
    switch event {
    case .large(let domain, let byteCount):
      logger.warning(
        """
        \(domain) holds \(byteCount) bytes, more than \(PreferenceLimits.noticeByteCount): settings are not a place for data, \
        a file or a database is
        """)
      NotificationCenter.default.post(
        name: UserDefaults.sizeLimitExceededNotification, object: nil, userInfo: [UserDefaults.domainNameKey: domain])
    case .quarantined(let domain, let file, let path):
      let name =
        switch file {
        case .journal: "journal"
        case .propertyList: "property list"
        }
      logger.error("the \(name) of \(domain) was damaged; it was put aside as \(path)")
    case .damaged(let domain, let path, let byteCount):
      logger.error("\(byteCount) bytes of the journal of \(domain) were damaged: \(path)")
    case .unsaved(let domain, let error):
      logger.error("values of \(domain) are kept in memory for now: \(error.code.name), \(error.detail)")
    case .notExported(let domain, let error):
      logger.warning("the property list of \(domain) is not up to date: \(error.code.name), \(error.detail)")
    case .firstValuesIgnored(let domain, let error):
      logger.error("the values that Foundation has stored for \(domain) are not used: \(error.code.name), \(error.detail)")
    case .managedIgnored(let path, let error):
      logger.error("the managed settings in \(path) are not used: \(error.code.name), \(error.detail)")
    }
  }

  /// Logs only errors that are not retried; the store reports the others itself.
  static func notSaved(_ error: PreferenceError, _ domain: DomainName) {
    guard error.code.isLimit || error.code == .looksLikeSecret else { return }
    log("a value for \(domain.name) was refused: \(error.code.name), \(error.detail)")
  }

  static func looksLikeSecret(_ path: String, _ rule: String, _ domain: DomainName) {
    say {
      logger.warning("\(path) of \(domain.name) looks like a secret (\(rule)): settings are plain files; a vault keeps it")
    }
  }

  /// Not an error, as on Apple's systems: the program has settings under this name, but no other program shares them.
  static func notInGroup(_ name: DomainName) {
    log(
      "the suite \(name.name) is a file of this app alone: the app has no entitlement to the group; its manifest must name it "
        + "under application-groups")
  }

  static func ambiguousGroup(_ name: String) {
    log("several application groups of this app end in \(name): name the one that is meant in full, with its team")
  }

  static func noGroupContainer(_ name: String) {
    log(
      "no container of the group \(name): the app has no entitlement to it; its manifest must name it under application-groups, and "
        + "coffer app run must have started the program")
  }

  static func notSynchronized(_ error: PreferenceError, _ domain: DomainName) {
    log("not all of \(domain.name) is on the disk: \(error.code.name), \(error.detail)")
  }

  static func notEntitled(_ name: DomainName) {
    log("the values of \(name.name) stay on this machine: the manifest of the app has no ubiquity-kvstore-identifier")
  }

  static func unusable(_ error: PreferenceError) {
    log("\(error.code.name): \(error.detail)")
  }

  static func notReadable(_ key: String, _ type: Any.Type) {
    log("the value of \(key) is not of type \(type): it is left as it is, and the initial value is used")
  }

  static func notMigrated(_ key: String, to type: Any.Type) {
    log("the value of \(key) was not converted to \(type): it is left as it is")
  }

  /// The message leaves out the value, which may be private.
  static func notStorable(_ key: String, _ error: any Error) {
    let reason =
      switch error {
      case EncodingError.invalidValue(_, let context): context.debugDescription
      case let error as PreferenceError: error.code.name
      default: "\(type(of: error))"
      }
    log("no value was stored for \(key): \(reason)")
  }

  private static func log(_ message: String) { say { logger.error("\(message)") } }
}
