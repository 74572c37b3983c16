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
/// A reason: the store has met the values of the person's other devices for the first time. It comes once, also without keys. Unlike on
/// Apple's systems no write was too early: keys that only this device has are sent, and for others the values of the space stay.
public let NSUbiquitousKeyValueStoreInitialSyncChange = 1
/// A reason: a value was refused. It, its key or the store would be too large, here or together with values of other devices: then the
/// key has the value of the space again.
public let NSUbiquitousKeyValueStoreQuotaViolationChange = 2
/// A reason: the device has joined another personal space. Keys that the space has have its values now, others have stayed. It comes also
/// without keys.
public let NSUbiquitousKeyValueStoreAccountChange = 3

extension NSUbiquitousKeyValueStore {
  /// Posted after another device has changed values, or a value was refused. The object is the store; the user info has the reason
  /// under `NSUbiquitousKeyValueStoreChangeReasonKey` and the keys under `NSUbiquitousKeyValueStoreChangedKeysKey`.
  ///
  /// Changes on this machine post nothing, whichever process makes them. Notifications begin with the first `synchronize()`: one is for
  /// all that came since a program of the app has seen the last one, and a second one for values of this device that the log has refused
  /// meanwhile. They are posted outside of all locks on a queue of the store, one after the other, and never on the main thread.
  public static let didChangeExternallyNotification = Notification.Name(
    "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")
}
