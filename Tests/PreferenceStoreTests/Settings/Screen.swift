import Observation
import PreferenceStore
import Synchronization

/// Displays settings like a view: it is drawn, is invalidated once by a change, and is drawn again later.
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

  /// Draws it if it was invalidated.
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

  /// The number of invalidations since it was created.
  var invalidations: Int { state.withLock { $0.invalidations } }

  /// The number of invalidations by `change`; then draws it.
  func invalidations(by change: () throws -> Void) rethrows -> Int {
    let before = invalidations
    try change()
    let count = invalidations - before
    draw()
    return count
  }
}
