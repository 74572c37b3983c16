import CofferConsole
import Explanations

extension DefaultsFailure {
  /// The meaning of `error` for the caller.
  /// - Parameter subject: The domain or file that it is about.
  init(_ error: any Error, about subject: String? = nil) {
    switch error {
    case let failure as DefaultsFailure: self = failure
    case let failure as Failure: self = .failed(failure.message, about: subject, hint: failure.hint)
    default:
      let explanation = Explanation(of: error, about: subject)
      self = .failed(explanation.message, about: subject, hint: explanation.hint)
    }
  }

  /// Throws all of them as one, if there are any.
  static func raise(_ failures: [DefaultsFailure]) throws(DefaultsFailure) {
    guard !failures.isEmpty else { return }
    throw .said(failures.map(\.text).joined(separator: "\n"))
  }
}

/// Runs `body`, and says which domain an error in it was about.
func about<Result>(domain: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch {
    throw DefaultsFailure(error, about: domain)
  }
}
