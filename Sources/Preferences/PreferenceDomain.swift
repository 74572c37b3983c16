public import PropertyLists

/// One entry of the search list: keys and values from one place.
///
/// All requirements may be called from any thread.
public protocol PreferenceDomain: AnyObject, Sendable {
  /// Changes with every change of a value, in this process or another one, and never comes back to what it was: an answer that was
  /// made at one stamp may be kept until the stamp is another. Where the domain lies in shared memory this is one load.
  var stamp: UInt64 { get }

  /// Nil where the domain holds no value of this key. Keys are compared byte by byte.
  func value(forKey key: String) -> PropertyListValue?

  /// All keys and values, as of one moment.
  func values() -> PropertyListDictionary

  /// Calls `note` with every change of a value, in the order of the changes, under the lock of the domain: it must return at once and
  /// not use the domain. Then calls `tell` under no lock, with the names of the keys: for a change of this process on the thread that
  /// made it, for one of another process on the thread of the `ChangeWatch`. Each commit of another process is a change of its own, except
  /// those to a journal that is gone when this process looks, and edits of the property list: these are found by comparing the values.
  /// - Returns: The observation ends when this object goes.
  func observe(
    note: @escaping @Sendable (PreferenceChange) -> Void,
    tell: @escaping @Sendable (PreferenceChange.Origin, [String]) -> Void
  ) -> PreferenceObservation
}

extension PreferenceDomain {
  /// Calls `handler` with every change of a value, in the order of the changes, under no lock and never on two threads at a time: on a
  /// thread that makes a change, or that of the `ChangeWatch`. Changes of another process are told as by `observe(note:tell:)`. A change that the handler makes is told before the call that makes it returns.
  /// - Returns: The observation ends when this object goes.
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

/// What one change has done to one domain.
public struct PreferenceChange: Sendable {
  public enum Origin: Sendable {
    case thisProcess
    case otherProcess
  }

  public struct Key: Sendable {
    public let name: String
    /// Nil where there was no value.
    public let old: PropertyListValue?
    /// Nil where there is no value any more.
    public let new: PropertyListValue?

    public init(_ name: String, old: PropertyListValue?, new: PropertyListValue?) {
      self.name = name
      self.old = old
      self.new = new
    }
  }

  public let origin: Origin
  /// Never empty; each key once; old and new always differ.
  public let keys: [Key]

  public init(origin: Origin, keys: [Key]) {
    self.origin = origin
    self.keys = keys
  }
}
