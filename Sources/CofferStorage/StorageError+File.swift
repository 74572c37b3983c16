package import CofferFiles

extension StorageError: FileFailure {
  package init(_ error: FileError) { self.init(error, missing: .io) }

  /// - Parameter missing: The code if a file or directory of the path is missing, which means something else for each file.
  init(_ error: FileError, missing: Code) {
    let code: Code =
      switch error.code {
      case .missing, .notADirectory: missing
      case .symbolicLink: .symbolicLink
      case .accessDenied: .accessDenied
      case .readOnly: .readOnly
      case .full: .full
      case .descriptorsExhausted: .descriptorsExhausted
      case .outOfMemory: .outOfMemory
      default: .io
      }
    self.init(code, error.detail)
  }

  init(errno number: Int32, _ what: String, missing: Code) { self.init(FileError(errno: number, what), missing: missing) }
}
