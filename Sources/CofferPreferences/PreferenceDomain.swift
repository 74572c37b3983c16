public import CofferPropertyLists

/// One entry of the search list: keys and values from one place.
///
/// All requirements may be called from any thread.
public protocol PreferenceDomain: AnyObject, Sendable {
  /// Changes with every change of a value, in this process or another one, and never repeats: a value that was read at one stamp
  /// may be cached until the stamp differs. For a domain in shared memory this costs one load.
  var stamp: UInt64 { get }

  /// nil if the domain has no value for this key. Keys are compared byte by byte.
  func value(forKey key: String) -> PropertyListValue?

  /// All keys and values at one moment.
  func values() -> PropertyListDictionary

  /// Calls `note` with every change of a value, in order, under the lock of the domain: it must return at once and not use the
  /// domain. Then calls `tell` outside of all locks, with the names of the keys: for a change by this process on the thread that
  /// made it, for one by another process on the thread of the `ChangeWatch`. Each commit of another process is a change of its
  /// own, except commits to a journal that was replaced before this process read them, and edits of the property list: these are
  /// found by comparing the values.
  /// - Returns: The observation, which ends when this object is deallocated.
  func observe(
    note: @escaping @Sendable (PreferenceChange) -> Void,
    tell: @escaping @Sendable (PreferenceChange.Origin, [String]) -> Void
  ) -> PreferenceObservation
}

extension PreferenceDomain {
  /// Calls `handler` with every change of a value, in order, outside of all locks and never on two threads at a time: on a thread
  /// that makes a change, or that of the `ChangeWatch`. Changes by another process are delivered as by `observe(note:tell:)`. A
  /// change that the handler makes is delivered before the changing call returns.
  /// - Returns: The observation, which ends when this object is deallocated.
  public func observe(_ handler: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let changes = OrderedDelivery<PreferenceChange>()
    changes.start({}, handler)
    let observation = observe {
      changes.note($0)
    } tell: { _, _ in
      changes.deliver(handler)
    }
    return PreferenceObservation {
      observation.cancel()
      changes.end()
    }
  }
}

/// One change of one domain.
public struct PreferenceChange: Sendable {
  /// The process that has made a change.
  public enum Origin: Sendable {
    /// This process.
    case thisProcess
    /// Another process.
    case otherProcess
  }

  /// A key with its old and its new value.
  public struct Key: Sendable {
    /// The key.
    public let name: String
    /// nil if there was no value.
    public let old: PropertyListValue?
    /// nil if the value was removed.
    public let new: PropertyListValue?

    /// The change of a key.
    public init(_ name: String, old: PropertyListValue?, new: PropertyListValue?) {
      self.name = name
      self.old = old
      self.new = new
    }
  }

  /// The process that has made the change.
  public let origin: Origin
  /// Never empty; each key once; `old` and `new` always differ.
  public let keys: [Key]

  /// A change of keys.
  public init(origin: Origin, keys: [Key]) {
    self.origin = origin
    self.keys = keys
  }
}
