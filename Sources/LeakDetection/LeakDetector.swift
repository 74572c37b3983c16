public import CofferPropertyLists

/// Finds preference values that look like secrets. It guards against accidents; a secret can be disguised from it on purpose.
///
/// The functions are pure and may be called from any thread. The time is proportional to the size of the value; a short value
/// takes 1 to 2 µs.
public enum LeakDetector {
  /// The parts of `key` and `value` that look like secrets: at most one finding for each string, number or data, and for each
  /// name, in order.
  ///
  /// A reference to the vault, `coffer://GROUP/SERVICE/ACCOUNT`, is never a finding. A finding in an archive inside data names
  /// the data, not the place in the archive, and names in the archive are not considered.
  /// - Parameter key: The value's key in its domain, which is considered: `hunter2` is a secret under `password`, but not under
  ///   `nickname`.
  public static func findings(key: String, value: PropertyListValue) -> [Finding] {
    var findings: [Finding] = []
    let place = Place(key: key, name: KeyName(key))
    if let rule = ruleOfName(key) { findings.append(place.finding(rule, isInName: true)) }
    walk(value, place, &findings)
    return findings
  }

  /// The present position of the walk.
  private struct Place {
    let key: String
    var name: KeyName
    var steps: [Finding.Step] = []

    func finding(_ rule: String, isInName: Bool = false) -> Finding {
      Finding(rule: rule, key: key, steps: steps, isInName: isInName)
    }

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
      for (key, member) in members.sorted {
        let place = place.member(key)
        if let rule = ruleOfName(key) { findings.append(place.finding(rule, isInName: true)) }
        walk(member, place, &findings)
      }
      return
    case .real, .boolean, .date, .uid: return
    }
    if let rule { findings.append(place.finding(rule)) }
  }

  /// The rule that the name itself matches, for example in a dictionary whose keys are tokens.
  private static func ruleOfName(_ name: String) -> String? {
    guard name.utf8.count >= TokenIndex.shortestToken, let index = LeakRules.tokens.firstRule(in: name.utf8.span) else {
      return nil
    }
    return LeakRules.allTokens[index].name
  }

  private static func rule(of number: UInt64, _ place: Place) -> String? {
    guard place.name.promise == .anything else { return nil }
    return rule(place.name, .number, String(number).utf8.span)
  }

  /// Data may be text, an archive with strings in it, or other bytes.
  private static func rule(of bytes: [UInt8], _ place: Place) -> String? {
    let bytes = bytes.span
    guard ArchivedStrings.canRead(bytes) else { return rule(place.name, isText(bytes) ? .text : .bytes, bytes) }
    var strings = ArchivedStrings()
    while let range = strings.next(in: bytes) {
      let text = bytes.extracting(range)
      if let rule = ruleOfForm(text, DistinctBytes(text)) { return rule }
    }
    return nil
  }

  private static func isText(_ bytes: borrowing Span<UInt8>) -> Bool {
    for index in 0..<bytes.count {
      guard bytes[index] >= 0x20 || bytes[index].isSpace, bytes[index] < 0x7F else { return false }
    }
    return true
  }

  /// The first matching rule of the table.
  private static func rule(_ name: KeyName, _ kind: NamedValueKind, _ bytes: borrowing Span<UInt8>) -> String? {
    let distinct = DistinctBytes(bytes)
    if kind != .number {
      guard !OrdinaryForm.isVaultReference(bytes) else { return nil }
      if let rule = ruleOfForm(bytes, distinct) { return rule }
    }
    guard name.promise != .nothing else { return nil }
    for rule in LeakRules.names where rule.matches(name, kind, bytes, distinct) { return rule.name }
    return nil
  }

  /// The first matching rule among those that need no name.
  private static func ruleOfForm(_ bytes: borrowing Span<UInt8>, _ distinct: DistinctBytes) -> String? {
    if bytes.count >= TokenIndex.shortestToken, let index = LeakRules.tokens.firstRule(in: bytes) {
      return LeakRules.allTokens[index].name
    }
    for rule in LeakRules.structures where rule.matchesForm(bytes, distinct) { return rule.name }
    return nil
  }
}

extension LeakDetector {
  /// The rule that a text under a name matches, for a text in memory of the caller's, such as locked memory.
  package static func rule(of text: borrowing Span<UInt8>, named name: String) -> String? {
    rule(KeyName(name), .text, text)
  }
}
