package import CofferFiles

extension PreferenceError: FileFailure {
  package init(_ error: FileError) {
    let code: Code =
      switch error.code {
      case .symbolicLink: .symbolicLink
      case .notAFile, .notADirectory: .notAFile
      case .accessDenied: .accessDenied
      case .readOnly: .readOnly
      case .full: .full
      case .descriptorsExhausted: .descriptorsExhausted
      default: .io
      }
    self.init(code, error.detail)
  }
}

typealias OpenFile = File<PreferenceError>
typealias Files = CofferFiles.Files<PreferenceError>
typealias NewFile = CofferFiles.NewFile<PreferenceError>
