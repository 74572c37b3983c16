/// Writes JSON as text. For attributes, states and preferences; a secret goes out beside it, never through it.
package enum JSON {
  case text(String)
  case integer(Int64)
  case natural(UInt64)
  /// Finite.
  case real(Double)
  case boolean(Bool)
  case null
  case array([JSON])
  /// In the order given.
  case object([(String, JSON)])
  /// A line that a program of this project has written as JSON.
  case written(String)

  /// Without quotes, for tables.
  package var plain: String {
    if case .text(let text) = self { text } else { description }
  }

  /// On one line.
  package var description: String {
    switch self {
    case .text(let text): Self.quoted(text)
    case .integer(let number): "\(number)"
    case .natural(let number): "\(number)"
    case .real(let number): "\(number)"
    case .boolean(let value): value ? "true" : "false"
    case .null: "null"
    case .array(let elements): "[" + elements.map(\.description).joined(separator: ",") + "]"
    case .written(let line): line
    case .object(let members): "{" + members.map { "\(Self.quoted($0)):\($1.description)" }.joined(separator: ",") + "}"
    }
  }

  /// RFC 8259, with the controls of terminals escaped as well.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.isControl:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
