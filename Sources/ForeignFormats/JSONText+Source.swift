package import ProgramSecrets

extension JSONText {
  /// - Throws: `notJSON`, `cutOff`, `tooDeep`, `memberTwice`, `halfCharacter`.
  package init(of source: SourceText) throws {
    do {
      try self.init(parsing: source)
    } catch let error as JSONError {
      let code: ForeignError.Code =
        switch error.code {
        case .notJSON: .notJSON
        case .cutOff: .cutOff
        case .tooDeep: .tooDeep
        case .memberTwice: .memberTwice
        case .halfCharacter: .halfCharacter
        }
      throw ForeignError(code, line: error.line, error.name)
    }
  }

  /// Returns nil for another value than a string.
  /// - Throws: `fieldTooLarge`.
  package func secret(in text: SourceText) throws -> HeldSecret? {
    guard isString else { return nil }
    var value = try SecretBuilder()
    try forEachByte(of: text) { try value.append($0, line: line) }
    return try value.finish()
  }

  /// Returns nil for another value than a string.
  package func text(in text: SourceText) throws -> String? { try secret(in: text)?.text }
}
