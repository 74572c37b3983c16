internal import CofferPreferences
internal import CofferPropertyLists

extension DefaultsFailure {
  /// What `error` means to the caller. `subject` is the domain or file that it is about.
  init(_ error: any Error, about subject: String? = nil) {
    switch error {
    case let failure as DefaultsFailure: self = failure
    case let failure as Failure:
      self = .failed([subject, failure.message].compactMap(\.self).joined(separator: ": "), hint: failure.hint)
    case let error as PreferenceError:
      self.init(FailureTable.preferences[error.code.name], error.code.name, error.detail, subject)
    case let error as PropertyListError:
      self.init(nil, error.code.name, error.detail, subject)
    default: self = .failed([subject, "\(error)"].compactMap(\.self).joined(separator: ": "))
    }
  }

  private init(_ entry: FailureTable.Entry?, _ code: String, _ detail: String, _ subject: String?) {
    let message = [subject, entry?.message ?? code].compactMap(\.self).joined(separator: ": ")
    self = .failed(detail.isEmpty ? message : "\(message) (\(detail))", hint: entry?.hint)
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
