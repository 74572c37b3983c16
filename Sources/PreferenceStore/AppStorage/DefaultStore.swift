internal import Preferences
internal import Synchronization

extension UserDefaults {
  private static let processDefault = Mutex<UserDefaults?>(nil)

  @TaskLocal static var scopedDefaultAppStorage: UserDefaults?

  /// Where an `@AppStorage` without `store:` keeps its value. `standard`, unless the program has said otherwise.
  public static var defaultAppStorage: UserDefaults {
    get { scopedDefaultAppStorage ?? processDefault.withLock { $0 } ?? standard }
    set { processDefault.withLock { $0 = newValue } }
  }

  /// Runs `body` with another store for every `@AppStorage` without `store:` that is used in it, also by tasks that it starts.
  ///
  /// One that was made in it goes on with this store outside, in a callback on another thread for example.
  public static func withDefaultAppStorage<Result>(_ store: UserDefaults, _ body: () throws -> Result) rethrows -> Result {
    try $scopedDefaultAppStorage.withValue(store, operation: body)
  }

  /// As above.
  public static func withDefaultAppStorage<Result>(
    _ store: UserDefaults, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await $scopedDefaultAppStorage.withValue(store, operation: body)
  }
}
