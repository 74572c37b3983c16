import CofferFiles
import CofferPreferences
import CofferSync
import SyncedSettings
import Synchronization
import VaultSync

/// The stores of settings of one space, for a program that stays, and when their changes are sent.
final class SettingsFollower {
  /// In milliseconds: changes are sent if none comes for this time.
  private static let pause: Int32 = 1000
  /// In milliseconds: from the first change, and between two entries for which no program has asked.
  private static let longest: Int32 = 15_000
  /// In milliseconds: stores that could not be read or written are tried again.
  private static let retryPause: Int32 = 60_000

  /// The changes that were not taken yet. The handlers of the stores add to them, each on a thread of its own.
  private final class News: Sendable {
    private let state = Mutex((hasChanged: false, isAsked: false))
    private let tell: @Sendable () -> Void

    init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }

    func add(isAsked: Bool) {
      state.withLock { $0 = (true, $0.isAsked || isAsked) }
      tell()
    }

    func take() -> (hasChanged: Bool, isAsked: Bool) {
      state.withLock { state in
        defer { state = (false, false) }
        return state
      }
    }
  }

  private let news: News
  private var stores: [SyncedProjection] = []
  private var observations: [PreferenceObservation] = []
  /// The names for which the stores were opened; nil if none were.
  private var allowed: Set<String>?
  /// Those of the stores.
  private var directories: [SyncedPlace.Identity?] = []
  /// Whether the stores and the log are compared as a whole: it is the first time, or the last one had an error.
  private var isComplete = true
  /// When they are compared as a whole again, after some values or stores were left out. The others go on meanwhile.
  private var retry: Deadline?
  private var hasChanges = false
  private var isAsked = false
  /// When the changes are sent, also if more come.
  private var latest: Deadline?
  /// The end of the pause after an entry: for requests, and for all other changes.
  private var rest: (asked: Deadline, other: Deadline)?
  /// When the changes are sent.
  private var push: Deadline?
  /// For a person, of the last comparison as a whole.
  private var failures: [String] = []

  /// - Parameter tell: Called after a change, on any thread.
  init(tell: @escaping @Sendable () -> Void) { news = News(tell) }

  /// Takes what the stores have told.
  func hear() {
    let new = news.take()
    guard new.hasChanged else { return }
    hasChanges = true
    isAsked = isAsked || new.isAsked
    let latest = latest ?? Deadline(milliseconds: Self.longest)
    self.latest = latest
    let wait = isAsked ? rest?.asked.left ?? 0 : max(rest?.other.left ?? 0, min(latest.left, Self.pause))
    push = Deadline(milliseconds: wait)
  }

  /// When a pass is due.
  var due: Deadline? { [push, retry].compactMap { $0 }.min { $0.left < $1.left } }

  /// The stores are closed until the next pass, which compares them as a whole.
  func close() { (stores, observations, allowed, isComplete) = ([], [], nil, true) }

  /// A pass of the items and of the settings.
  /// - Returns: The report of the items, and notes for a person.
  func synchronise(
    _ session: SpaceSession, with engine: any Engine, changes: VaultChanges
  ) throws -> (SyncReport, notes: [String]) {
    do {
      try open(for: session)
      isComplete = isComplete || retry?.hasPassed ?? false
      let scope = SpaceSession.SettingsScope(isSent: hasChanges || isComplete, isReceived: isComplete)
      // Those that come from now on are for the next pass.
      (hasChanges, isAsked, latest, push) = (false, false, nil, nil)
      let (report, settings) = try session.synchronise(with: engine, changes: changes, settings: stores, scope)
      if settings.sent > 0 { rest = (Deadline(milliseconds: Self.pause), Deadline(milliseconds: Self.longest)) }
      if isComplete || !settings.failed.isEmpty { failures = SettingStores.failures(in: settings) }
      if isComplete { retry = nil }
      isComplete = false
      if !settings.failed.isEmpty, retry == nil { retry = Deadline(milliseconds: Self.retryPause) }
      return (report, SettingStores.refusals(in: settings) + failures)
    } catch {
      (isComplete, push) = (true, nil)
      throw error
    }
  }

  /// Whether the stores are still those at their places: another directory may be there, as after a restore of an app, or one that was
  /// missing.
  func isCurrent(_ session: SpaceSession) throws -> Bool {
    guard allowed != nil else { return true }
    return try SettingStores.directories(of: session) == directories
  }

  /// Another process may have allowed a store since the last pass.
  private func open(for session: SpaceSession) throws {
    guard try session.state.settings.allowed != allowed || !isCurrent(session) else { return }
    close()
    stores = try SettingStores.allowed(by: session)
    allowed = session.state.settings.allowed
    directories = try SettingStores.directories(of: session)
    if !stores.isEmpty { ChangeWatch.start() }
    observations = stores.map { [news] store in
      store.store.observeRequests(changed: { _ in news.add(isAsked: false) }, asked: { news.add(isAsked: true) })
    }
  }
}
