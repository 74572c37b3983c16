import Coffer
import CofferFiles
import Synchronization
import VaultCore
import VaultSync

/// The notices of the agent that were not taken yet.
final class VaultNews: Sendable {
  struct News: Sendable {
    var changes = VaultChanges.none
    /// The keys of a space may have come or gone.
    var areSpacesNew = false
    var isLocked = false
    var isUnlocked = false

    var isEmpty: Bool { changes.isEmpty && !areSpacesNew && !isLocked && !isUnlocked }

    mutating func add(_ change: KeychainChange) {
      switch change {
      case .added(let reference), .removed(let reference):
        if reference.group == DeviceKeys.group { areSpacesNew = true } else { changes.add(reference) }
      // The stamps of this program, which it writes with each change.
      case .updated(let reference): if reference.group != DeviceKeys.group { changes.add(reference) }
      case .locked: (isLocked, isUnlocked) = (true, false)
      case .unlocked: addAll()
      case .missed: addAll()
      }
    }

    private mutating func addAll() { (changes, areSpacesNew, isUnlocked) = (.all, true, true) }
  }

  private let news: Shared
  private let task: Task<Void, Never>

  /// The part of the task, which does not keep the other alive.
  private final class Shared: Sendable {
    private let news = Mutex(News())
    private let tell: @Sendable () -> Void

    init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }

    func add(_ change: KeychainChange) {
      news.withLock { $0.add(change) }
      tell()
    }

    func take() -> News {
      news.withLock { news in
        defer { news = News() }
        return news
      }
    }
  }

  /// Watches when it returns, if an agent is there.
  /// - Parameter tell: Called after a change.
  init(_ keychain: Keychain, tell: @escaping @Sendable () -> Void) {
    let news = Shared(tell)
    self.news = news
    let first = keychain.changes
    task = Task.detached {
      var changes = first
      var pause = WatchPause()
      while !Task.isCancelled {
        let start = ContinuousClock.now
        do { for try await change in changes { news.add(change) } } catch {}
        try? await Task.sleep(for: .seconds(pause.next(after: ContinuousClock.now - start)))
        changes = keychain.changes
        news.add(.missed)
      }
    }
  }

  deinit { task.cancel() }

  func take() -> News { news.take() }
}

/// How long the program waits before it watches again. The agent ends a watch if the vault has new keys, and an agent that does not let
/// this program watch ends each one at once.
struct WatchPause {
  private static let longest = 60
  private var seconds = 1

  /// - Parameter life: How long the watch has lasted that has ended.
  /// - Returns: Seconds.
  mutating func next(after life: Duration) -> Int {
    if life >= .seconds(Self.longest) { seconds = 1 }
    defer { seconds = min(2 * seconds, Self.longest) }
    return seconds
  }
}
