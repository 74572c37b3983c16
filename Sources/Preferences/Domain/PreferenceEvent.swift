internal import Synchronization

/// What an administrator or a developer should hear of, and a program need not wait for.
public enum PreferenceEvent: Sendable {
  /// A domain has become larger than `PreferenceLimits.noticeByteCount`. Said once for each domain and process.
  case large(domain: String, byteCount: Int)
  /// A damaged file was put aside under another name. What the journal knew goes on to be used.
  case quarantined(domain: String, QuarantinedFile, path: String)
  /// Parts of a journal were damaged. What lay in them was taken from the property list as far as it was there.
  case damaged(domain: String, path: String, byteCount: Int)
  /// Values could not be written; they are kept in memory and written as soon as that is possible.
  case unsaved(domain: String, PreferenceError)
  /// The property list beside the journal could not be brought up to date, or read.
  case notExported(domain: String, PreferenceError)
  /// What another program has stored before, see `FileDomain.Options.firstBase`, was not taken over.
  case firstValuesIgnored(domain: String, PreferenceError)
  /// Settings that an administrator forces were not used: others could have written them, or they are damaged.
  case managedIgnored(path: String, PreferenceError)

  public enum QuarantinedFile: Sendable {
    case journal
    case propertyList
  }

  private static let handler = Mutex<(@Sendable (PreferenceEvent) -> Void)?>(nil)

  /// Says who wants to hear; nobody at first. Called outside of all locks of the store, on any thread.
  public static func report(to new: (@Sendable (PreferenceEvent) -> Void)?) { handler.withLock { $0 = new } }

  static func report(_ events: [PreferenceEvent]) {
    guard !events.isEmpty, let handler = handler.withLock({ $0 }) else { return }
    for event in events { handler(event) }
  }
}
