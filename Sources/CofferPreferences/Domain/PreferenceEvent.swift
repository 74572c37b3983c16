internal import Synchronization

/// An event for an administrator or developer, which the program need not handle.
public enum PreferenceEvent: Sendable {
  /// A domain has become larger than `PreferenceLimits.noticeByteCount`. Reported once per domain and process.
  case large(domain: String, byteCount: Int)
  /// A damaged file was moved aside under another name. The journal's values remain in use.
  case quarantined(domain: String, QuarantinedFile, path: String)
  /// Parts of a journal were damaged. Their values were taken from the property list if they were there.
  case damaged(domain: String, path: String, byteCount: Int)
  /// Values could not be written; they are kept in memory and written as soon as possible.
  case unsaved(domain: String, PreferenceError)
  /// The property list beside the journal could not be updated, or read.
  case notExported(domain: String, PreferenceError)
  /// The values that another program has stored earlier, see `FileDomain.Options.firstBase`, were not taken over.
  case firstValuesIgnored(domain: String, PreferenceError)
  /// Settings forced by an administrator were not used: other users could have written them, or they are damaged.
  case managedIgnored(path: String, PreferenceError)

  /// A file that was put aside.
  public enum QuarantinedFile: Sendable {
    /// The journal.
    case journal
    /// The property list.
    case propertyList
  }

  private static let handler = Mutex<(@Sendable (PreferenceEvent) -> Void)?>(nil)

  /// Sets the handler of all events; there is none at first. It is called outside of all locks of the store, on any thread.
  public static func report(to new: (@Sendable (PreferenceEvent) -> Void)?) { handler.withLock { $0 = new } }

  static func report(_ events: [PreferenceEvent]) {
    guard !events.isEmpty, let handler = handler.withLock({ $0 }) else { return }
    for event in events { handler(event) }
  }
}
