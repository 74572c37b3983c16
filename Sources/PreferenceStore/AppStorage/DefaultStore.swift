internal import CofferPreferences
internal import Synchronization

extension UserDefaults {
  private static let processDefault = Mutex<UserDefaults?>(nil)

  @TaskLocal static var scopedDefaultAppStorage: UserDefaults?

  /// The store of each `@AppStorage` without `store:`. `standard`, unless the program has set another one.
  public static var defaultAppStorage: UserDefaults {
    get { scopedDefaultAppStorage ?? processDefault.withLock { $0 } ?? standard }
    set { processDefault.withLock { $0 = newValue } }
  }

  /// Runs `body` with another store for every `@AppStorage` without `store:` that is used in it, also by tasks that it starts.
  ///
  /// A property that was created inside of `body` keeps this store afterwards, for example in a callback on another thread.
  /// - Throws: The error of `body`.
  public static func withDefaultAppStorage<Result>(_ store: UserDefaults, _ body: () throws -> Result) rethrows -> Result {
    try $scopedDefaultAppStorage.withValue(store, operation: body)
  }

  /// The same for an asynchronous `body`.
  /// - Throws: The error of `body`.
  public static func withDefaultAppStorage<Result>(
    _ store: UserDefaults, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await $scopedDefaultAppStorage.withValue(store, operation: body)
  }
}
