/// The meaning of an error for the caller of a program: exit status, words, and the way out.
package struct Explanation: Sendable {
  package let status: ExitStatus
  package let message: String
  package let hint: String?

  package init(_ status: ExitStatus, _ message: String, _ hint: String? = nil) {
    self.status = status
    self.message = message
    self.hint = hint
  }
}

extension Explanation {
  /// The explanation of `error`, with its detail if that does not repeat `subject`.
  package init(of error: any Error, about subject: String?) {
    guard let error = error as? any Explained else {
      self.init(.other, "\(error)")
      return
    }
    let plain = error.explanation
    let hasDetail = !error.detail.isEmpty && error.detail != subject
    self.init(plain.status, hasDetail ? "\(plain.message) (\(error.detail))" : plain.message, plain.hint)
  }
}

/// An error of a module below the programs. Each type has one table of explanations, in the program that shows them.
package protocol Explained: Error {
  var explanation: Explanation { get }
  /// The thing that it concerns; may be empty.
  var detail: String { get }
}

extension Failure {
  /// The meaning of `error` for the caller.
  /// - Parameter subject: The name or path that the command was about.
  package init(_ error: any Error, about subject: String? = nil) {
    if let failure = error as? Failure {
      self = failure
    } else {
      let explanation = Explanation(of: error, about: subject)
      let message = subject.map { "\($0): \(explanation.message)" } ?? explanation.message
      self.init(explanation.status, message, hint: explanation.hint)
    }
  }
}

/// Runs `body`; an error in it becomes a failure that names `subject`.
package func about<Result: ~Copyable>(_ subject: @autoclosure () -> String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch {
    throw Failure(error, about: subject())
  }
}
