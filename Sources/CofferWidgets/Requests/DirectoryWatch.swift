internal import AppContainers
import CofferFiles
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Reports changes in a directory, by inotify(7).
final class DirectoryWatch {
  private static let changes =
    UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)

  private let source: any DispatchSourceRead
  private let news: News

  /// - Parameter tell: Called after a change, and then not again until `willLook()`.
  /// - Throws: `notWatchable`.
  init(_ directory: OpenDirectory, tell: @escaping @Sendable () -> Void) throws(WidgetError) {
    let events = FileEvents()
    // Watches the open directory, even if another one is at its path by now.
    guard events.descriptor >= 0, events.watch("/proc/self/fd/\(directory.number)", for: Self.changes) >= 0 else {
      let reason = WidgetError(errno: errno, directory.path).detail
      throw WidgetError(.notWatchable, "\(reason); sysctl fs.inotify shows how many instances and watches a user may have")
    }
    let news = News()
    self.news = news
    source = DispatchSource.makeReadSource(
      fileDescriptor: events.descriptor, queue: DispatchQueue(label: "coffer.widgets.requests"))
    source.setEventHandler {
      // The events need not be parsed, because the files have the state.
      events.clear()
      if !news.isTold.exchange(true, ordering: .acquiringAndReleasing) { tell() }
    }
    // Keeps the descriptor open until the source no longer uses it.
    source.setCancelHandler { withExtendedLifetime(events) {} }
    source.activate()
  }

  deinit { source.cancel() }

  /// Reports the next change again.
  func willLook() { news.isTold.store(false, ordering: .sequentiallyConsistent) }

  private final class News: Sendable {
    let isTold = Atomic(false)
  }
}
