/// Shows this process, if its memory is hidden, while the agent has to identify it: cofferd finds out which program asks by a look at the
/// process, which is possible for the user's programs only while it is not hidden.
package final class Visibility: Sendable {
  private struct State {
    var count = 0
    var wasHidden = false
  }

  private let state = Guarded(State())
  /// Whether the agent identifies this process at each request, as it does with all but `coffer-ssh-agent` and `coffer-secrets`.
  package let isForEachRequest: Bool

  package init(isForEachRequest: Bool = false) { self.isForEachRequest = isForEachRequest }

  /// Hidden again, if it was before, when the last one has ended.
  package func shown<Result: ~Copyable>(_ body: () throws -> Result) rethrows -> Result {
    state.withLock { state in
      if state.count == 0 {
        state.wasHidden = Hardening.isHidden
        if state.wasHidden { Hardening.show() }
      }
      state.count += 1
    }
    defer {
      state.withLock { state in
        state.count -= 1
        if state.count == 0, state.wasHidden { Hardening.hide() }
      }
    }
    return try body()
  }
}
