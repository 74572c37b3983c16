import Foundation

@testable import SecretMemory
@testable import VaultCore

/// The canonical dump of a vault, as the reference implementation prints it: JSON lines with sorted keys.
enum Dump {
  static func lines(_ vault: borrowing Vault) throws -> Data {
    var lines: [String] = []
    try vault.reading { state, keyring in
      var groups: [Identifier: GroupKeys] = [:]
      var groupLines: [(AccessGroup, String)] = []
      try state.forEachRecord(.group, damaged: { throw $0 }) { record, meta in
        guard meta.kind == .group else { return }
        let group = try state.openGroup(record)
        groups[group.groupID] = group
        let sealed = try SealPeek.attributes(record, meta, state)
        groupLines.append(
          (
            group.group,
            object([
              ("attributes", attributes(sealed)), ("gid", quoted("\(group.groupID)")), ("group", text(group.group.name)),
              ("id", quoted("\(record.id)")),
              ("keys", "[\(group.keyNames.map { "[\($0.accessibility.rawValue),\($0.epoch)]" }.joined(separator: ","))]"),
              ("ver", "\(meta.version)"),
            ])
          ))
      }
      lines += groupLines.sorted { $0.0 < $1.0 }.map(\.1)
      var itemLines: [(AccessGroup, Identifier, String)] = []
      try state.forEachRecord(.item, damaged: { throw $0 }) { record, meta in
        guard let group = groups[record.group] else { return }
        var fields = [
          ("accessible", "\(meta.accessibility.rawValue)"), ("attributes", "null"), ("class", "null"),
          ("group", text(group.group.name)), ("id", quoted("\(record.id)")), ("secret", "null"), ("ver", "\(meta.version)"),
        ]
        do {
          let item = try state.openItem(record, meta: meta, group: group).item
          let secret = try state.openSecret(record, meta: meta, group: group).copyIntoUnprotectedBytes()
          var all = item.attributes
          all["class"] = .integer(UInt64(item.itemClass.rawValue))
          fields[1].1 = attributes(all)
          fields[2].1 = "\(item.itemClass.rawValue)"
          fields[5].1 = quoted(Data(secret).base64EncodedString())
        } catch VaultError.Code.deviceKeyMissing {}
        itemLines.append((group.group, record.id, object(fields)))
      }
      lines += itemLines.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }
    return Data(lines.map { $0 + "\n" }.joined().utf8)
  }

  private static func object(_ fields: [(String, String)]) -> String {
    "{" + fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
  }

  private static func quoted(_ text: String) -> String { "\"\(text)\"" }

  /// As Python's json with `ensure_ascii=False`.
  private static func text(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": escaped += "\\\""
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\r": escaped += "\\r"
      case "\t": escaped += "\\t"
      case "\u{8}": escaped += "\\b"
      case "\u{C}": escaped += "\\f"
      case "\0"..<" ": escaped += String(format: "\\u%04x", scalar.value)
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return quoted(escaped)
  }

  private static func attributes(_ attributes: Attributes) -> String {
    object(
      attributes.map { name, value in
        let json: String
        switch value {
        case .text(let text): json = object([("type", quoted("text")), ("value", quoted(Data(text.utf8).base64EncodedString()))])
        case .data(let data): json = object([("type", quoted("data")), ("value", quoted(Data(data).base64EncodedString()))])
        case .integer(let integer): json = object([("type", quoted("integer")), ("value", "\(integer)")])
        case .time(let time): json = object([("type", quoted("time")), ("value", "\(time.secondsSince1970)")])
        }
        let name = text(name)
        return (String(name.dropFirst().dropLast()), json)
      })
  }
}

/// Attributes of a group's record, beyond those that the core keeps.
enum SealPeek {
  static func attributes(_ record: RecordHead, _ meta: RecordMeta, _ state: ProvenState) throws -> Attributes {
    try TLV.decode(
      state.keys.openSystem(.attributes, record.attributes, of: record, meta: meta).copyIntoUnprotectedBytes())
  }
}
