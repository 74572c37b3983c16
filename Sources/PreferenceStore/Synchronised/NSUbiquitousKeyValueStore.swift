internal import CofferPreferences
internal import CofferPropertyLists
public import Foundation
internal import SyncedSettings

/// Settings that follow the person to other devices: a small store beside `UserDefaults`, with the semantics of Apple's class.
///
/// A value that was set is visible at once to every thread and every process of this machine, and survives the end of the process; it
/// is on the disk within 250 ms, or when `synchronize()` returns. `coffer sync` moves it to the person's other devices, sealed. No
/// function waits for a network, and everything works without one. Not for secrets: on each machine the file is a plain property
/// list.
///
/// A key has at most 64 bytes in UTF-8, a value 1 MiB, and a store 1,024 keys and 1 MiB of values. Beyond a limit nothing changes, nor
/// for a value with more than 512 levels of arrays and dictionaries, and `didChangeExternallyNotification` is posted for the key, with
/// the reason `NSUbiquitousKeyValueStoreQuotaViolationChange`.
///
/// Thread-safe. Notifications are posted on a queue of the store, one after the other and outside of all locks: observers may change
/// settings, and no function of this class waits for them. Code of an interface has to go to the main actor in them.
open class NSUbiquitousKeyValueStore: NSObject, @unchecked Sendable {
  private let domain: any WritableDomain
  private let name: DomainName
  private let isEntitled: Bool
  /// nil if the store cannot be used: values stay in memory.
  private let delivery: SyncedDelivery?

  private static let shared = NSUbiquitousKeyValueStore()

  /// The store of this program: for an app the one that `ubiquity-kvstore-identifier` of its manifest names, for another program the
  /// one of the name of its settings.
  open class var `default`: NSUbiquitousKeyValueStore { shared }

  /// Another object for the store of this program. A subclass, for example one for tests, calls this initialiser.
  public override init() {
    (domain, name, isEntitled, delivery) = Self.parts(ProcessStore.lists.places, ProcessStore.domainName)
    super.init()
    begin()
  }

  package init(_ places: SearchPlaces, _ program: DomainName) {
    (domain, name, isEntitled, delivery) = Self.parts(places, program)
    super.init()
    begin()
  }

  private static func parts(
    _ places: SearchPlaces, _ program: DomainName
  ) -> (any WritableDomain, DomainName, isEntitled: Bool, SyncedDelivery?) {
    Diagnostics.start()
    do throws(PreferenceError) {
      let process = try SyncedPlace.ofProcess(in: places, program: program)
      let store = SyncedStore(process)
      return (store.values, process.name, process.isEntitled, SyncedDelivery(store))
    } catch {
      Diagnostics.unusable(error)
      return (UnavailableDomain(error), program, false, nil)
    }
  }

  private func begin() { delivery?.begin { [weak self] reason, keys in self?.post(Int(reason.rawValue), keys) } }

  // MARK: Reading. Missing values and values of another type read as nil, 0 or false.

  private func value(_ key: String) -> PropertyListValue? { domain.value(forKey: key) }

  /// A property list value: `String`, `NSNumber`, `Date`, `Data`, `[Any]`, `[String: Any]`.
  open func object(forKey aKey: String) -> Any? { value(aKey)?.foundationValue }
  /// A number is converted to decimal text, true to "1".
  open func string(forKey aKey: String) -> String? { value(aKey)?.coercedToString }
  /// The array under a key; nil if the value is of another type.
  open func array(forKey aKey: String) -> [Any]? { object(forKey: aKey) as? [Any] }
  /// The dictionary under a key; nil if the value is of another type.
  open func dictionary(forKey aKey: String) -> [String: Any]? { object(forKey: aKey) as? [String: Any] }
  /// The data under a key; nil if the value is of another type.
  open func data(forKey aKey: String) -> Data? { object(forKey: aKey) as? Data }
  /// Truncated to a whole number in the range of `Int64`. A string is read as its leading number; `YES` as 1.
  open func longLong(forKey aKey: String) -> Int64 { Int64(value(aKey)?.coercedToInteger ?? 0) }
  /// A string is read as its leading number.
  open func double(forKey aKey: String) -> Double { value(aKey)?.coercedToDouble ?? 0 }
  /// Whether a number is not 0, or a string starts with `Y`, `T` or a number that is not 0.
  open func bool(forKey aKey: String) -> Bool { value(aKey)?.coercedToBool ?? false }

  /// All keys with their values.
  open var dictionaryRepresentation: [String: Any] { domain.values().foundationDictionary }

  // MARK: Writing. A dictionary or an array is one value, and changes as a whole.

  /// Sets a value; nil removes it. A value that is no property list is logged, and that under the key stays.
  open func set(_ anObject: Any?, forKey aKey: String) {
    guard let anObject else { return removeObject(forKey: aKey) }
    do throws(PreferenceError) {
      write(try PropertyListValue(storing: anObject, forKey: aKey), aKey)
    } catch {
      guard error.code.isLimit else { return Diagnostics.notStorable(aKey, error) }
      refuse(error, aKey)
    }
  }

  /// Sets a string; nil removes the value.
  open func set(_ aString: String?, forKey aKey: String) { write(aString.map { .string($0) }, aKey) }
  /// Sets data; nil removes the value.
  open func set(_ aData: Data?, forKey aKey: String) { write(aData.map { .data(Array($0)) }, aKey) }
  /// Sets an array; nil removes the value.
  open func set(_ anArray: [Any]?, forKey aKey: String) { set(anArray as Any?, forKey: aKey) }
  /// Sets a dictionary; nil removes the value.
  open func set(_ aDictionary: [String: Any]?, forKey aKey: String) { set(aDictionary as Any?, forKey: aKey) }
  /// Sets an integer.
  open func set(_ value: Int64, forKey aKey: String) { write(.integer(value), aKey) }
  /// Sets a floating-point number.
  open func set(_ value: Double, forKey aKey: String) { write(.real(value), aKey) }
  /// Sets a Boolean value.
  open func set(_ value: Bool, forKey aKey: String) { write(.boolean(value), aKey) }
  /// Removes a value.
  open func removeObject(forKey aKey: String) { write(nil, aKey) }

  private func write(_ value: PropertyListValue?, _ key: String) {
    do throws(PreferenceError) {
      try UserDefaults.checkForSecret(value, key, name)
    } catch {
      return Diagnostics.notSaved(error, name)
    }
    if let error = domain.keep(value, forKey: key) { refuse(error, key) }
  }

  /// - Parameter error: The reason why the value is not in the files.
  private func refuse(_ error: PreferenceError, _ key: String) {
    Diagnostics.notSaved(error, name)
    if error.code.isLimit { delivery?.refuse(key) }
  }

  // MARK: Synchronising

  /// Waits until all values that this program has set are on the disk, and asks for them to be sent soon. It never waits for a network.
  /// A program calls it once at its start: notifications of other devices' changes begin with that.
  /// - Returns: Whether the values are on the disk and may move: false if the disk refuses, or if the manifest of the app names no
  ///   store under `ubiquity-kvstore-identifier`. The reason is logged.
  @discardableResult
  open func synchronize() -> Bool {
    delivery?.start()
    do throws(PreferenceError) {
      try domain.synchronize()
      guard isEntitled else {
        Diagnostics.notEntitled(name)
        return false
      }
      try delivery?.store.askForPush()
      return true
    } catch {
      Diagnostics.notSynchronized(error, name)
      return false
    }
  }

  private func post(_ reason: Int, _ keys: [String]) {
    NotificationCenter.default.post(
      name: Self.didChangeExternallyNotification, object: self,
      userInfo: [NSUbiquitousKeyValueStoreChangeReasonKey: reason, NSUbiquitousKeyValueStoreChangedKeysKey: keys])
  }
}
