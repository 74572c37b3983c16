internal import CofferPreferences
public import Foundation

extension UserDefaults {
  /// Posted after a change, outside of all locks, on the thread that made the change, or for a change by another process on a
  /// thread of the store. The object is the `UserDefaults`; the user info has the changed keys under `changedKeysKey` and the
  /// origin under `isExternalKey`. Setting an equal value posts nothing. The name is Foundation's, so that existing observers
  /// receive it.
  public static let didChangeNotification = Foundation.UserDefaults.didChangeNotification

  /// Posted once for each domain that grows beyond `PreferenceLimits.noticeByteCount`. The user info has the domain's name under
  /// `domainNameKey`.
  public static let sizeLimitExceededNotification = Notification.Name("NSUserDefaultsSizeLimitExceededNotification")

  /// The name of the domain of the program's arguments.
  public static let argumentDomain = VolatileDomains.argumentName
  /// The name of the domain of all programs of the user.
  public static let globalDomain = DomainName.global.name
  /// The name of the domain of registered defaults.
  public static let registrationDomain = VolatileDomains.registrationName

  /// `[String]`
  public static let changedKeysKey = "CofferChangedKeys"
  /// `Bool`: whether another process made the change.
  public static let isExternalKey = "CofferIsExternal"
  /// `String`
  public static let domainNameKey = "CofferDomainName"
}
