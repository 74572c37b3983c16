import Observation
import PreferenceStore
import Synchronization

/// What shows settings, as a view does: it is drawn, hears once that it is out of date, and is then drawn anew, when it gets to that.
final class Screen: Sendable {
  private let content: @Sendable () -> Void
  private struct State {
    var invalidations = 0
    var isDrawn = false
  }

  private let state = Mutex(State())

  init(_ content: @escaping @Sendable () -> Void) {
    self.content = content
    draw()
  }

  /// Where it is out of date.
  func draw() {
    let isDrawn = state.withLock { state in
      defer { state.isDrawn = true }
      return state.isDrawn
    }
    guard !isDrawn else { return }
    withObservationTracking(content) { [weak self] in
      self?.state.withLock { state in
        state.invalidations += 1
        state.isDrawn = false
      }
    }
  }

  /// Since it was made.
  var invalidations: Int { state.withLock { $0.invalidations } }

  /// What `change` does to it, and then draws.
  func invalidations(by change: () throws -> Void) rethrows -> Int {
    let before = invalidations
    try change()
    let count = invalidations - before
    draw()
    return count
  }
}
