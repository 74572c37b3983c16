internal import CofferPreferences
internal import CofferPropertyLists
public import Foundation

/// The settings of a program: read through the search list of its domain, written to the user's own values in it.
///
/// A replacement for Foundation's class with the semantics of Apple's: `import class PreferenceStore.UserDefaults` beside
/// `Foundation`. A value that was set is visible at once to every thread, to other processes at their next read, and survives the
/// end of the process; it is on the disk within 250 ms, or when `synchronize()` returns. Not for secrets: the files are plain
/// property lists.
///
/// A value is at most 1 MiB, a domain 4 MiB, a key 4096 bytes; larger ones are refused: `set` logs the error, `store(_:forKey:)`
/// throws it. If the disk is full or fails, values stay in memory until they can be written.
///
/// Thread-safe. Observers run outside of all locks and may change settings.
open class UserDefaults: NSObject, @unchecked Sendable {
  let lists: SearchLists
  /// Keeps the search list alive.
  let use: SearchListUse
  let application: ApplicationList
  var list: SearchList { application.list }
  let observedKeys: ObservedKeys
  /// Set once, in the initialiser.
  private var observation: PreferenceObservation?

  private static let shared = UserDefaults(ProcessStore.lists, ProcessStore.domainName, isForEver: true)

  /// The settings of this program, under its bundle identifier, or if it has none, under its name.
  open class var standard: UserDefaults { shared }

  /// Has no effect, as on Apple's systems: settings are not cached per object.
  open class func resetStandardUserDefaults() {}

  /// Another object for the settings of this program.
  public convenience override init() {
    self.init(suiteName: nil)!
  }

  /// The settings under a name that several programs of the user may share; nil stands for this program's own settings.
  ///
  /// Returns nil for the program's own name and `NSGlobalDomain`, which are in every search list already, and for names that are
  /// not safe file names: empty, longer than 200 bytes, with a slash or a control character, or with a leading dot. In an app,
  /// `group.com.example.x` is the application group of the app whose name ends in it; the result is nil if several do.
  ///
  /// A subclass, for example one for tests, calls this initialiser.
  public init?(suiteName: String?) {
    guard let name = Self.domain(suiteName, of: ProcessStore.domainName) else { return nil }
    lists = ProcessStore.lists
    guard !lists.places.isAmbiguousGroup(name.name) else {
      Diagnostics.ambiguousGroup(name.name)
      return nil
    }
    if lists.places.lacksGroup(name) { Diagnostics.notInGroup(name) }
    use = lists.list(name)
    application = use.application
    observedKeys = use.companion { ObservedKeys() }
    super.init()
    observe()
  }

  package convenience init?(_ lists: SearchLists, _ domainName: DomainName, suiteName: String?) {
    guard let name = Self.domain(suiteName, of: domainName) else { return nil }
    self.init(lists, name)
  }

  /// - Parameter isForEver: Whether the object lives as long as the process. Otherwise it is observed by a weak reference, which
  ///   makes reading slower.
  package init(_ lists: SearchLists, _ name: DomainName, isForEver: Bool = false) {
    Diagnostics.start()
    self.lists = lists
    use = lists.list(name)
    application = use.application
    observedKeys = use.companion { ObservedKeys() }
    super.init()
    observe(isForEver: isForEver)
  }

  private func observe(isForEver: Bool = false) {
    observation = isForEver ? list.observeChanges { [self] in post($0) } : list.observeChanges { [weak self] in self?.post($0) }
  }

  private static func domain(_ suiteName: String?, of domainName: DomainName) -> DomainName? {
    guard let suiteName else { return domainName }
    guard let name = try? DomainName(suiteName), name != domainName, name != .global else { return nil }
    return name
  }

  // MARK: Reading. Missing values and values of another type read as nil, 0 or false. All of these call `object(forKey:)` of a
  // subclass.

  /// A property list value: `String`, `NSNumber`, `Date`, `Data`, `[Any]`, `[String: Any]`. A number can be cast to each Swift
  /// number type that can represent it, as on Apple's systems, except `CGFloat`.
  open func object(forKey defaultName: String) -> Any? { list.value(forKey: defaultName)?.foundationValue }

  /// A number is converted to decimal text, true to "1".
  open func string(forKey defaultName: String) -> String? {
    isSubclassed ? storedValue(forKey: defaultName)?.coercedToString : list.string(forKey: defaultName)
  }

  /// The array under a key; nil if the value is of another type.
  open func array(forKey defaultName: String) -> [Any]? { object(forKey: defaultName) as? [Any] }
  /// The dictionary under a key; nil if the value is of another type.
  open func dictionary(forKey defaultName: String) -> [String: Any]? { object(forKey: defaultName) as? [String: Any] }
  /// The data under a key; nil if the value is of another type.
  open func data(forKey defaultName: String) -> Data? { object(forKey: defaultName) as? Data }

  /// nil if an element is not a string.
  open func stringArray(forKey defaultName: String) -> [String]? { storedValue(forKey: defaultName)?.coercedToStringArray }

  /// Truncated to a whole number in the range of `Int`. A string is read as its leading number; `YES` as 1.
  open func integer(forKey defaultName: String) -> Int {
    isSubclassed ? storedValue(forKey: defaultName)?.coercedToInteger ?? 0 : list.integer(forKey: defaultName)
  }

  /// The nearest `Float`. A string is read as its leading number.
  open func float(forKey defaultName: String) -> Float { storedValue(forKey: defaultName)?.coercedToFloat ?? 0 }

  /// A string is read as its leading number.
  open func double(forKey defaultName: String) -> Double {
    isSubclassed ? storedValue(forKey: defaultName)?.coercedToDouble ?? 0 : list.double(forKey: defaultName)
  }

  /// Whether a number is not 0, or a string starts with `Y`, `T` or a number that is not 0.
  open func bool(forKey defaultName: String) -> Bool {
    isSubclassed ? storedValue(forKey: defaultName)?.coercedToBool ?? false : list.bool(forKey: defaultName)
  }

  /// A string is read as a file path, with `~` expanded; data as an archived URL. Unlike a bookmark, the path does not follow a
  /// moved file.
  open func url(forKey defaultName: String) -> URL? { storedValue(forKey: defaultName)?.fileOrArchivedURL }

  /// The same as `object(forKey:)`.
  open func value(forKey key: String) -> Any? { object(forKey: key) }

  // MARK: Writing. Only the user's own values of the domain change. Setting nil removes the value, so that the next place of the
  // search list is read. All of these call `set(_:forKey:)` for an object, or `removeObject(forKey:)`, of a subclass.

  /// A value beyond a limit is not stored, and logged.
  /// - Precondition: A property list value, an `NSNumber`, `NSString`, …, or a URL. For other values the process ends, with
  ///   Apple's text; `store(_:forKey:)` throws instead.
  open func set(_ value: Any?, forKey defaultName: String) {
    guard let value else { return removeObject(forKey: defaultName) }
    do throws(PreferenceError) {
      write(try PropertyListValue(storing: value, forKey: defaultName), defaultName)
    } catch {
      guard error.code.isLimit else { return orTrap { () throws(PreferenceError) in throw error } }
      Diagnostics.notSaved(error, application.name)
    }
  }

  /// Stores an integer.
  open func set(_ value: Int, forKey defaultName: String) { setStoredValue(.integer(Int64(value)), forKey: defaultName) }
  /// Stores a floating-point number.
  open func set(_ value: Float, forKey defaultName: String) { setStoredValue(.real(Double(value)), forKey: defaultName) }
  /// Stores a floating-point number.
  open func set(_ value: Double, forKey defaultName: String) { setStoredValue(.real(value), forKey: defaultName) }
  /// Stores a Boolean value.
  open func set(_ value: Bool, forKey defaultName: String) { setStoredValue(.boolean(value), forKey: defaultName) }

  /// A file URL is stored as its path, with `~` for the home directory; any other URL as a keyed archive.
  open func set(_ url: URL?, forKey defaultName: String) {
    guard let url else { return removeObject(forKey: defaultName) }
    let value = orTrap { () throws(PreferenceError) in try PropertyListValue(url: url, forKey: defaultName) }
    setStoredValue(value, forKey: defaultName)
  }

  /// The same as `set(_:forKey:)`.
  open func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
  /// Removes the value that this program has stored. Reading then returns the next domain's value.
  open func removeObject(forKey defaultName: String) { write(nil, defaultName) }

  /// Default values for keys that have a value nowhere else, in every search list of this process. They are not stored: register
  /// them at each start.
  open func register(defaults registrationDictionary: [String: Any]) {
    let edits = orTrap { () throws(PreferenceError) in try PropertyListValue.edits(registrationDictionary) }
    lists.volatileDomains.registration.apply(edits)
  }

  // MARK: Domains

  /// Adds the domain of this name to the search list: after the program's own, and before suites that were added earlier.
  open func addSuite(named suiteName: String) {
    edit(suiteName) { name in
      guard !lists.places.isAmbiguousGroup(suiteName) else { return Diagnostics.ambiguousGroup(suiteName) }
      if lists.places.lacksGroup(name) { Diagnostics.notInGroup(name) }
      application.addSuite(lists.places.fullName(of: name))
    }
  }
  /// Takes a suite out of the search list again.
  open func removeSuite(named suiteName: String) {
    edit(suiteName) { application.removeSuite(lists.places.fullName(of: $0)) }
  }

  /// All keys of the search list with their values. The time is proportional to their number.
  open func dictionaryRepresentation() -> [String: Any] { list.values().foundationDictionary }

  /// The names of the domains that exist in memory only: arguments, registered defaults, and those that were set.
  open var volatileDomainNames: [String] { lists.volatileDomains.names }
  /// The values of a domain in memory.
  open func volatileDomain(forName domainName: String) -> [String: Any] { volatileValues(domainName) }
  /// Replaces all values of the volatile domain.
  open func setVolatileDomain(_ domain: [String: Any], forName domainName: String) { setVolatileValues(domain, domainName) }
  /// Removes a domain in memory.
  open func removeVolatileDomain(forName domainName: String) { lists.volatileDomains.remove(domainName) }

  /// The user's own values of a domain; nil if there are none.
  open func persistentDomain(forName domainName: String) -> [String: Any]? { persistentValues(domainName) }
  /// Replaces the user's own values of a domain in one transaction. Always posts `didChangeNotification`, even if nothing
  /// changed.
  open func setPersistentDomain(_ domain: [String: Any], forName domainName: String) { setPersistentValues(domain, domainName) }
  /// Removes all values of a stored domain.
  open func removePersistentDomain(forName domainName: String) { setPersistentValues([:], domainName) }

  /// Waits until all values that this program has set in this domain are on the disk.
  /// - Returns: Whether they are. If not, the reason is logged.
  @discardableResult
  open func synchronize() -> Bool { synchronizeDomain() }

  /// Whether the administrator has set the value, so that setting it here has no effect. A program should disable the control of
  /// such a setting.
  open func objectIsForced(forKey key: String) -> Bool { list.isForced(key) }

  /// Whether the administrator forces the value of a key in a domain.
  open func objectIsForced(forKey key: String, inDomain domain: String) -> Bool {
    (try? DomainName(domain)).map { lists.isForced(key, in: $0) } ?? false
  }
}
