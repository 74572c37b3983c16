public import Foundation
internal import Preferences

extension UserDefaults {
  /// Posted after a change, outside of all locks: on the thread that made it, or, where another process did, on a thread of the store.
  /// The object is the store; the user info says what and who under `changedKeysKey` and `isExternalKey`. An equal value is no change.
  /// Foundation's name, so that existing observers hear of it.
  public static let didChangeNotification = Foundation.UserDefaults.didChangeNotification

  /// Posted once for each domain that becomes larger than `PreferenceLimits.noticeByteCount`: settings are no place for data. Its name is
  /// in the user info, under `domainNameKey`.
  public static let sizeLimitExceededNotification = Notification.Name("NSUserDefaultsSizeLimitExceededNotification")

  public static let argumentDomain = VolatileDomains.argumentName
  public static let globalDomain = DomainName.global.name
  public static let registrationDomain = VolatileDomains.registrationName

  /// `[String]`
  public static let changedKeysKey = "CofferChangedKeys"
  /// `Bool`: whether another process has made the change.
  public static let isExternalKey = "CofferIsExternal"
  /// `String`
  public static let domainNameKey = "CofferDomainName"
}
