public import PropertyLists

/// Finds preference values that look like secrets. A guard against accidents: whoever wants to hide a secret from it can.
///
/// The functions are pure and may be called from any thread. What they cost grows with the bytes of the value; a short one costs less
/// than a microsecond.
public enum LeakDetector {
  /// Levels of property lists inside the data of property lists.
  private static let maximumNesting = 4

  /// What in `value` looks like a secret: at most one finding for each string, number or data, in the order in which they stand.
  ///
  /// Never found: a reference to the vault, `coffer://GROUP/SERVICE/ACCOUNT`. Of an archive inside data the finding names the data,
  /// not the place in the archive.
  /// - Parameter key: The value's key in its domain. It counts: `hunter2` is a secret under `password` and none under `nickname`.
  public static func findings(key: String, value: PropertyListValue) -> [Finding] {
    var findings: [Finding] = []
    walk(value, KeyName(key), 0) {
      key
    } found: {
      findings.append($0)
    }
    return findings
  }

  private static func walk(
    _ value: PropertyListValue, _ name: KeyName, _ nesting: Int, path: () -> String, found: (Finding) -> Void
  ) {
    switch value {
    case .string(let text):
      if let rule = rule(name, .text, text.utf8.span) { found(Finding(rule: rule, path: path())) }
    case .data(let bytes):
      if let rule = rule(of: bytes, name, nesting) { found(Finding(rule: rule, path: path())) }
    case .integer(let number) where name.promise == .anything:
      if let rule = rule(name, .number, String(number.magnitude).utf8.span) { found(Finding(rule: rule, path: path())) }
    case .unsigned(let number) where name.promise == .anything:
      if let rule = rule(name, .number, String(number).utf8.span) { found(Finding(rule: rule, path: path())) }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        walk(element, name, nesting) {
          "\(path())[\(index)]"
        } found: {
          found($0)
        }
      }
    case .dictionary(let members):
      for (key, member) in members.sorted {
        walk(member, name.containing(KeyName(key), named: key), nesting) {
          "\(path()).\(key)"
        } found: {
          found($0)
        }
      }
    case .integer, .unsigned, .real, .boolean, .date, .uid: break
    }
  }

  /// Data may be text, another property list, or just bytes.
  private static func rule(of bytes: [UInt8], _ name: KeyName, _ nesting: Int) -> String? {
    if bytes.starts(with: [0x62, 0x70, 0x6C, 0x69, 0x73, 0x74]), nesting < maximumNesting,
      let inner = try? PropertyList.read(bytes).value
    {
      var first: String?
      walk(inner, name, nesting + 1) {
        ""
      } found: {
        first = first ?? $0.rule
      }
      return first
    }
    return rule(name, isText(bytes.span) ? .text : .bytes, bytes.span)
  }

  private static func isText(_ bytes: borrowing Span<UInt8>) -> Bool {
    for index in 0..<bytes.count {
      guard bytes[index] >= 0x20 || bytes[index].isSpace, bytes[index] < 0x7F else { return false }
    }
    return true
  }

  /// The first rule of the table that matches.
  private static func rule(_ name: KeyName, _ kind: NamedValueKind, _ bytes: borrowing Span<UInt8>) -> String? {
    let distinct = DistinctBytes(bytes)
    if kind != .number {
      guard !OrdinaryForm.isVaultReference(bytes) else { return nil }
      if bytes.count >= TokenIndex.shortestToken, let index = LeakRules.tokens.firstRule(in: bytes) {
        return LeakRules.tokenForms[index].name
      }
      for rule in LeakRules.structures where rule.matches(name, kind, bytes, distinct) { return rule.name }
    }
    guard name.promise != .nothing else { return nil }
    for rule in LeakRules.names where rule.matches(name, kind, bytes, distinct) { return rule.name }
    return nil
  }
}
