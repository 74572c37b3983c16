internal import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// `~/.cargo/credentials.toml`: tokens of registries, which `cargo-credential-coffer` answers with, and the place in `~/.cargo/config.toml`
/// that has cargo ask it.
package enum CargoFormat {
  package static let service = "cargo"
  /// The registry without a name of its own.
  package static let usualRegistry = "crates-io"

  package struct Token: Sendable {
    package let registry: String
    package let item: ForeignItem
    /// False: a key that signs, or a value with escapes.
    package let isToken: Bool
    fileprivate let range: Range<Int>
  }

  /// - Throws: as `TOMLText`; `notationUnknown`, for a registry in braces; `fieldTooLarge`.
  package static func tokens(of text: SourceText) throws -> [Token] {
    try TOMLText(of: text).assignments.compactMap { assignment in
      guard let registry = try registry(of: assignment, ["token", "secret-key"]) else { return nil }
      var (secret, isToken) = (HeldSecret(try Secret(count: 0)), false)
      if case .string(let range) = assignment.value {
        guard !range.isEmpty else { return nil }
        (secret, isToken) = (try text.secret(range), assignment.path.last == "token")
      }
      let item = ForeignItem(
        service: service, account: registry, secret, line: assignment.line, value: assignment.range)
      return Token(registry: registry, item: item, isToken: isToken, range: assignment.range)
    }
  }

  /// The registry of a setting, if that has one of the names. cargo once had the token of crates.io outside of all tables.
  private static func registry(of assignment: TOMLText.Assignment, _ names: [String]) throws -> String? {
    let path = assignment.path
    if case .table = assignment.value, path.count < 3, ["registry", "registries"].contains(path[0]) {
      throw ForeignError(.notationUnknown, line: assignment.line, path[0])
    }
    guard let name = path.last, names.contains(name) else { return nil }
    switch path.count {
    case 1: return usualRegistry
    case 2 where path[0] == "registry": return usualRegistry
    case 3 where path[0] == "registries": return path[1]
    default: return nil
    }
  }

  /// Takes tokens away, with their lines if nothing else is there.
  package static func edits(of tokens: [Token], in text: SourceText) -> [TextEdit] {
    tokens.map { token in
      let line = text.wholeLine(of: token.range)
      let rest = text.trimmed(token.range.upperBound..<line.upperBound)
      let isAlone =
        text.trimmed(line.lowerBound..<token.range.lowerBound).isEmpty
        && (rest.isEmpty || text[rest.lowerBound] == SourceText.lineFeed)
      return TextEdit(isAlone ? line : token.range)
    }
  }

  // MARK: The provider

  /// Whether the configuration names another provider for a registry than the general ones.
  /// - Throws: as `tokens`.
  package static func hasOwnProvider(_ registry: String, in text: SourceText) throws -> Bool {
    try TOMLText(of: text).assignments.contains { try self.registry(of: $0, ["credential-provider"]) == registry }
  }

  /// Has cargo ask a provider, before those that it asks now. nil: it asks it already.
  /// - Throws: as `TOMLText`; `notationUnknown`, if the table is written in another way.
  package static func asking(_ provider: String, in text: SourceText) throws -> TextEdit? {
    let name = "global-credential-providers"
    let words = JSONForm.string(provider)
    let document = try TOMLText(of: text)
    let own = document.assignments.filter { $0.path.first == "registry" }
    if let setting = own.first(where: { $0.path == ["registry", name] }) {
      guard case .strings(let present, let end) = setting.value else {
        throw ForeignError(.notationUnknown, line: setting.line, name)
      }
      if present.contains(where: { text.text($0).split(separator: "/").last == provider[...] }) { return nil }
      guard let last = present.last else { return TextEdit(end..<end, words) }
      return TextEdit(last.upperBound + 1..<last.upperBound + 1, ", " + words)
    }
    // The last one has precedence. The first one is what cargo asks if nothing is set.
    let line = "\(name) = [\"cargo:token\", \(words)]\n"
    if let header = document.headers.first(where: { $0.path == ["registry"] }) {
      let end = text.wholeLine(of: header.end..<header.end).upperBound
      return TextEdit(end..<end, (text.endsLine(at: end) ? "" : "\n") + line)
    }
    if let setting = own.first(where: { $0.path.count < 3 }) {
      throw ForeignError(.notationUnknown, line: setting.line, "registry")
    }
    let start = text.count == 0 ? "" : text.endsLine(at: text.count) ? "\n" : "\n\n"
    return TextEdit(text.count..<text.count, "\(start)[registry]\n\(line)")
  }
}

extension SourceText {
  /// The lines of a part, with the end of the last one.
  package func wholeLine(of range: Range<Int>) -> Range<Int> {
    let start = (0..<range.lowerBound).last { self[$0] == Self.lineFeed }.map { $0 + 1 } ?? 0
    let end = offset(of: Self.lineFeed, in: range.upperBound..<count).map { $0 + 1 } ?? count
    return start..<end
  }

  fileprivate func endsLine(at offset: Int) -> Bool { offset == 0 || self[offset - 1] == Self.lineFeed }
}
