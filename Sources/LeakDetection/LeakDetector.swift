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
    walk(value, Place(key: key, name: KeyName(key)), &findings)
    return findings
  }

  /// Where the walk is.
  private struct Place {
    let key: String
    var name: KeyName
    var steps: [Finding.Step] = []
    /// How many property lists lie around this one.
    var nesting = 0

    func finding(_ rule: String) -> Finding { Finding(rule: rule, key: key, steps: steps) }

    func element(_ index: Int) -> Place {
      var place = self
      place.steps.append(.element(index))
      return place
    }

    func member(_ member: String) -> Place {
      var place = self
      place.steps.append(.member(member))
      place.name = name.containing(KeyName(member), named: member)
      return place
    }
  }

  private static func walk(_ value: PropertyListValue, _ place: Place, _ findings: inout [Finding]) {
    let rule: String?
    switch value {
    case .string(let text): rule = self.rule(place.name, .text, text.utf8.span)
    case .data(let bytes): rule = self.rule(of: bytes, place)
    case .integer(let number): rule = self.rule(of: number.magnitude, place)
    case .unsigned(let number): rule = self.rule(of: number, place)
    case .array(let elements):
      for (index, element) in elements.enumerated() { walk(element, place.element(index), &findings) }
      return
    case .dictionary(let members):
      for (key, member) in members.sorted { walk(member, place.member(key), &findings) }
      return
    case .real, .boolean, .date, .uid: return
    }
    if let rule { findings.append(place.finding(rule)) }
  }

  private static func rule(of number: UInt64, _ place: Place) -> String? {
    guard place.name.promise == .anything else { return nil }
    return rule(place.name, .number, String(number).utf8.span)
  }

  /// Data may be text, another property list, or just bytes.
  private static func rule(of bytes: [UInt8], _ place: Place) -> String? {
    if bytes.starts(with: "bplist".utf8), place.nesting < maximumNesting, let inner = try? PropertyList.read(bytes).value {
      var findings: [Finding] = []
      var place = place
      place.nesting += 1
      walk(inner, place, &findings)
      return findings.first?.rule
    }
    return rule(place.name, isText(bytes.span) ? .text : .bytes, bytes.span)
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
