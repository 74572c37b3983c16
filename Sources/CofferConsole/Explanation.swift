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
    func of(_ subject: String?, _ words: String) -> String { subject.map { "\($0): \(words)" } ?? words }
    switch error {
    case let failure as Failure: self = failure
    case let error as any Explained:
      let explanation = error.explanation
      let message = of(subject, explanation.message)
      let isNew = !error.detail.isEmpty && error.detail != subject
      self.init(explanation.status, isNew ? "\(message) (\(error.detail))" : message, hint: explanation.hint)
    default: self.init(.other, of(subject, "\(error)"))
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
