import CofferConsole

extension DefaultsFailure {
  /// What `error` means to the caller. `subject` is the domain or file that it is about.
  init(_ error: any Error, about subject: String? = nil) {
    switch error {
    case let failure as DefaultsFailure: self = failure
    case let failure as Failure:
      self = .failed([subject, failure.message].compactMap(\.self).joined(separator: ": "), hint: failure.hint)
    default:
      let failure = Failure(error, about: subject)
      self = .failed(failure.message, hint: failure.hint)
    }
  }

  /// All of them as one, where there are any.
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
