internal import Foundation
internal import Logging
internal import Preferences

/// What a person should know, in the log of the program; by default on standard error.
enum Diagnostics {
  private static let logger = Logger(label: "coffer.preferences")

  /// Listens to the store. Once for the process, however often it is called.
  static func start() { _ = listening }

  private static let listening: Void = PreferenceEvent.report { event in
    switch event {
    case .large(let domain, let byteCount):
      logger.warning(
        """
        \(domain) holds \(byteCount) bytes, more than \(PreferenceLimits.noticeByteCount): settings are no place for data, \
        a file or a database is
        """)
      NotificationCenter.default.post(
        name: UserDefaults.sizeLimitExceededNotification, object: nil, userInfo: [UserDefaults.domainNameKey: domain])
    case .quarantined(let domain, let path):
      logger.error("the property list of \(domain) was damaged; it was put aside as \(path)")
    case .damaged(let domain, let path, let byteCount):
      logger.error("\(byteCount) bytes of the journal of \(domain) were damaged: \(path)")
    case .unsaved(let domain, let error):
      logger.error("values of \(domain) are kept in memory for now: \(error.code.name), \(error.detail)")
    case .notExported(let domain, let error):
      logger.warning("the property list of \(domain) is not up to date: \(error.code.name), \(error.detail)")
    }
  }

  /// Only what will not be tried again: the store tells of the rest.
  static func notSaved(_ error: PreferenceError, _ domain: DomainName) {
    guard [.keyTooLong, .valueTooLarge, .valueTooDeep, .domainTooLarge].contains(error.code) else { return }
    logger.error("a value for \(domain.name) was refused: \(error.code.name), \(error.detail)")
  }

  static func notSynchronized(_ error: PreferenceError, _ domain: DomainName) {
    logger.error("not all of \(domain.name) is on the disk: \(error.code.name), \(error.detail)")
  }

  static func unusable(_ error: PreferenceError) {
    logger.error("\(error.code.name): \(error.detail)")
  }
}
