import CofferConsole
import VaultCore

extension Item {
  /// As it would be typed: `service/account`, as a URI where that would be read otherwise.
  func name(in group: AccessGroup) -> String {
    let (service, account) = ItemName.parts(of: self)
    guard service.isEmpty || service.contains("/") || service.hasPrefix("coffer:") else {
      return account.isEmpty ? service : "\(service)/\(account)"
    }
    guard !service.isEmpty else { return "--service '' --account '\(account)'" }
    return uri(in: group)
  }

  /// The same, with the group where that is not the one that is meant anyway.
  func nameWithGroup(_ group: AccessGroup) -> String {
    guard group != .standard else { return name(in: group) }
    return ItemName.parts(of: self).service.isEmpty ? "\(name(in: group)) --group '\(group.name)'" : uri(in: group)
  }

  private func uri(in group: AccessGroup) -> String {
    let (service, account) = ItemName.parts(of: self)
    return "coffer://\([group.name, service, account].map(PercentEncoding.encode).joined(separator: "/"))"
  }
}

extension Entry {
  var name: String { item.name(in: reference.group) }
  var nameWithGroup: String { item.nameWithGroup(reference.group) }

  var row: [String] {
    [name, reference.group.name, ClassName(item.itemClass).rawValue, item.label ?? "", item.modified?.text ?? ""]
  }

  /// All but the secret.
  func members() throws -> [(String, JSON)] {
    var standard: [(String, JSON)] = []
    var own: [(String, JSON)] = []
    for (name, value) in item.attributes {
      if name.hasPrefix(Item.userPrefix) {
        own.append((String(name.dropFirst(Item.userPrefix.count)), try value.json()))
      } else if name != "class" {
        standard.append((name, try value.json()))
      }
    }
    return [
      ("group", .text(reference.group.name)), ("class", .text(ClassName(item.itemClass).rawValue)),
      ("accessible", .text(AccessibilityName(accessibility).rawValue)), ("generation", .natural(generation)),
    ] + standard + [("user", .object(own))]
  }
}

extension PercentEncoding {
  /// Everything but what RFC 3986 calls unreserved.
  static func encode(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default: result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return result
  }
}
