/// Hides the memory of this process, except while the agent has to identify it: cofferd finds out which program asks by a look at the
/// process, which is possible for the user's programs only while it is not hidden.
package final class Visibility: Sendable {
  private let count = Guarded(0)

  package init() {}

  /// Hidden again when the last one has ended.
  package func shown<Result: ~Copyable>(_ body: () throws -> Result) rethrows -> Result {
    count.withLock { count in
      if count == 0 { Hardening.show() }
      count += 1
    }
    defer {
      count.withLock { count in
        count -= 1
        if count == 0 { Hardening.hide() }
      }
    }
    return try body()
  }
}
