// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The key of the reason in the user info of `NSUbiquitousKeyValueStore.didChangeExternallyNotification`. The value is an `Int`.
public let NSUbiquitousKeyValueStoreChangeReasonKey = "NSUbiquitousKeyValueStoreChangeReasonKey"
/// The key of the changed keys in the user info of `NSUbiquitousKeyValueStore.didChangeExternallyNotification`. The value is a
/// `[String]`.
public let NSUbiquitousKeyValueStoreChangedKeysKey = "NSUbiquitousKeyValueStoreChangedKeysKey"

/// A reason: another device has written.
public let NSUbiquitousKeyValueStoreServerChange = 0
/// A reason: the store has met the values of the person's other devices for the first time. It comes once.
public let NSUbiquitousKeyValueStoreInitialSyncChange = 1
/// A reason: a value was refused, because the store would be too large. Nothing has changed.
public let NSUbiquitousKeyValueStoreQuotaViolationChange = 2
/// A reason: the settings are those of another personal space now.
public let NSUbiquitousKeyValueStoreAccountChange = 3

extension NSUbiquitousKeyValueStore {
  /// Posted after another device has changed values, or a value was refused. The object is the store; the user info has the reason
  /// under `NSUbiquitousKeyValueStoreChangeReasonKey` and the keys under `NSUbiquitousKeyValueStoreChangedKeysKey`.
  ///
  /// Changes on this machine post nothing, whichever process makes them. Notifications begin with the first `synchronize()`: one is for
  /// all that came since a program of the app has seen the last one, and a second one for values of this device that the log has refused
  /// meanwhile. They are posted outside of all locks on a queue of the store, one after the other.
  public static let didChangeExternallyNotification = Notification.Name(
    "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")
}
