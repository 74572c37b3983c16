import Glibc

/// The event that a test waited for has not occurred. A wait without a limit would block the whole run, without naming the test.
public struct NeverCame: Error, CustomStringConvertible {
  public let description: String

  public init(description: String) {
    self.description = description
  }
}

/// In seconds: a busy machine may be a hundred times slower than an idle one.
public let longestWait = 300

/// Returns when the condition holds, or throws after `longestWait`.
/// - Parameter what: The event, for the message.
/// - Throws: `NeverCame`; what the condition throws.
public func wait(for what: @autoclosure () -> String, until condition: () throws -> Bool) throws {
  let end = ContinuousClock.now + .seconds(longestWait)
  while try !condition() {
    guard .now < end else { throw NeverCame(description: "within \(longestWait) s: \(what())") }
    usleep(1000)
  }
}

/// The same, and other tests have the thread meanwhile.
public func waitAside(for what: @autoclosure () -> String, until condition: () async throws -> Bool) async throws {
  let end = ContinuousClock.now + .seconds(longestWait)
  while try await !condition() {
    guard .now < end else { throw NeverCame(description: "within \(longestWait) s: \(what())") }
    try await Task.sleep(for: .milliseconds(1))
  }
}
