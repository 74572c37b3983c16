import CofferPropertyLists
import CofferTesting
import Foundation
import LeakDetection
import Testing

/// The share of secrets from the field that is found. `Corpus/Field/README.md` lists the sources of the samples.
@Suite struct FieldTests {
  struct Template {
    let key: String
    let value: String
  }

  static func templates(_ name: String) throws -> [Template] {
    let url = OrdinaryValueTests.folder.appending(path: "Field/\(name).txt")
    return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let parts = line.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
      return Template(key: String(parts[0]), value: String(parts[1]).replacing("\\n", with: "\n").replacing("\\\n", with: "\\n"))
    }
  }

  /// The templates that the detector finds, in each of several random draws.
  static func found(_ templates: [Template]) -> [[Template]] {
    (1...5).map { seed in
      var maker = SampleMaker(random: SeededGenerator(seed: UInt64(seed)))
      return templates.filter {
        let key = maker.filled($0.key)
        return !LeakDetector.findings(key: key, value: .string(maker.filled($0.value))).isEmpty
      }
    }
  }

  @Test func atMostThreeSecretsAreMissed() throws {
    let templates = try Self.templates("secrets")
    #expect(templates.count >= 148)
    for found in Self.found(templates) {
      let keys = Set(found.map { "\($0.key)|\($0.value)" })
      let missed = templates.map { "\($0.key)|\($0.value)" }.filter { !keys.contains($0) }
      #expect(missed.count <= 3, "\(missed.count) of \(templates.count): \(missed.joined(separator: "\n"))")
    }
  }

  @Test func noOrdinaryValueIsTakenForASecret() throws {
    let templates = try Self.templates("ordinary")
    #expect(templates.count >= 124)
    for found in Self.found(templates) {
      #expect(
        found.isEmpty, "\(found.count) of \(templates.count): \(found.map { "\($0.key)|\($0.value)" }.joined(separator: "\n"))")
    }
  }
}

extension SampleMaker {
  private static let bech32 = "023456789acdefghjklmnpqrstuvwxyz"
  private static let people = ["Winter", "sunshine", "Dragon", "letmein", "Monday", "bicycle", "Fluffy", "Hamburg"]

  /// Replaces each placeholder in braces by random characters; other braces stay.
  mutating func filled(_ template: String) -> String {
    var text = ""
    var rest = template[...]
    while let open = rest.firstIndex(of: "{") {
      text += rest[..<open]
      rest = rest[open...]
      if let close = rest.firstIndex(of: "}"), let drawn = drawn(rest[rest.index(after: open)..<close]) {
        text += drawn
        rest = rest[rest.index(after: close)...]
      } else {
        text += "{"
        rest = rest.dropFirst()
      }
    }
    return text + rest
  }

  private mutating func drawn(_ name: Substring) -> String? {
    let parts = name.split(separator: ":")
    let count = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
    switch parts.first {
    case "any": return any(count)
    case "letters": return draw(Self.lower + Self.upper, count)
    case "dig": return draw("123456789", count)
    case "low": return draw(Self.lower + Self.digits, count)
    case "cap": return capitals(count)
    case "hex": return hex(count)
    case "HEX": return hex(count).uppercased()
    case "b64": return draw(Self.base64, count)
    case "url": return url(count)
    case "b32": return draw(Self.upper + "234567", count)
    case "bech": return draw(Self.bech32, count)
    case "BECH": return draw(Self.bech32.uppercased(), count)
    case "uuid": return [8, 4, 4, 4, 12].map { hex($0) }.joined(separator: "-")
    case "basic": return Data("ada:\(password())".utf8).base64EncodedString()
    case "pw": return password()
    case "words": return (0..<count).map { _ in word() }.joined(separator: " ")
    default: return nil
    }
  }

  private mutating func password() -> String {
    let word = Self.people[Int.random(in: 0..<Self.people.count, using: &random)]
    return word + draw(Self.digits, Int.random(in: 2...4, using: &random))
      + ["", "!", "$", "-x"][Int.random(in: 0..<4, using: &random)]
  }

  private mutating func word() -> String {
    OrdinaryValueTests.words[Int.random(in: 0..<OrdinaryValueTests.words.count, using: &random)]
  }
}
