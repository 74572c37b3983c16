package import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// The XML that KeePass and KeePassXC export, with history and attached files.
package enum KeePassFormat {
  /// A file that is attached to an entry.
  package struct Attachment: Sendable {
    /// The index of the item to which it belongs.
    package let item: Int
    package let name: String
    /// nil: the XML does not have it. KeePassXC 2.7 leaves out those of a database of KeePass 4.
    package let content: HeldSecret?
    /// The way from the first group to the entry, if it leads to no other entry.
    package let path: String?
    /// By gzip.
    package let isCompressed: Bool
    package let line: Int
  }

  /// The first bytes of a database, of KeePass 2 in all versions.
  package static let signature: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5]

  /// - Throws: as `XMLText`; `otherShape`; `exportEncrypted`, for values that only the database can decrypt; `base64Malformed`,
  ///   `fieldTooLarge`.
  package static func items(of text: SourceText) throws -> (items: ForeignItems, attachments: [Attachment]) {
    let document = try XMLText(of: text)
    guard document.name == "KeePassFile", let root = document["Root"]?["Group"] else {
      throw ForeignError(.otherShape, line: document.line, "KeePassFile")
    }
    var reader = try KeePassReader(text, document["Meta"], root)
    try reader.read(root, [], isRemoved: false)
    return (reader.result, reader.attachments)
  }
}

private struct KeePassReader {
  private static let names: Set<String> = ["Title", "UserName", "Password", "URL", "Notes"]
  /// The names differ between programs and plug-ins.
  private static let codes: Set<String> = ["otp", "TOTP Seed", "TimeOtp-Secret-Base32"]
  private static let codeSettings: Set<String> = [
    "TOTP Settings", "TimeOtp-Period", "TimeOtp-Length", "TimeOtp-Algorithm",
  ]

  var result = ForeignItems()
  var attachments: [KeePassFormat.Attachment] = []
  private let text: SourceText
  private let bin: String?
  private var files: [String: XMLText] = [:]
  /// All entries, for references between them.
  private var entries: [String: XMLText] = [:]
  /// How many entries have a way.
  private var ways: [String: Int] = [:]

  init(_ text: SourceText, _ meta: XMLText?, _ root: XMLText) throws {
    self.text = text
    bin = try meta?["RecycleBinEnabled"]?.text(in: text) == "True" ? meta?["RecycleBinUUID"]?.text(in: text) : nil
    for file in meta?["Binaries"]?.all("Binary") ?? [] { files[file.attributes["ID"] ?? ""] = file }
    try register(root, "")
  }

  private mutating func register(_ group: XMLText, _ way: String) throws {
    for entry in group.all("Entry") {
      entries[try entry["UUID"]?.text(in: text) ?? ""] = entry
      ways["\(way)/\(try value("Title", of: entry)?.text ?? "")", default: 0] += 1
    }
    for below in group.all("Group") { try register(below, "\(way)/\(try below["Name"]?.text(in: text) ?? "")") }
  }

  private func way(of entry: ForeignEntry) -> String? {
    let way = (entry.folder.isEmpty ? "" : "/" + entry.folder) + "/" + entry.title
    return ways[way] == 1 && !entry.title.isEmpty ? way : nil
  }

  /// - Parameter names: The groups above, without the first one, which is the database.
  mutating func read(_ group: XMLText, _ names: [String], isRemoved: Bool) throws {
    for entry in group.all("Entry") {
      guard !isRemoved else {
        result.lost.append(LostPart(line: entry.line, what: try string("Title", of: entry)?.text(in: text) ?? "", .removed))
        continue
      }
      try read(entry, folder: names.joined(separator: "/"))
    }
    for below in group.all("Group") {
      let id = try below["UUID"]?.text(in: text)
      let name = try below["Name"]?.text(in: text) ?? ""
      try read(below, names + [name], isRemoved: isRemoved || (bin != nil && id == bin))
    }
  }

  private func string(_ name: String, of entry: XMLText) throws -> XMLText? {
    try entry.all("String").first { try $0["Key"]?.text(in: text) == name }?["Value"]
  }

  private mutating func read(_ element: XMLText, folder: String) throws {
    var entry = ForeignEntry(line: element.line)
    entry.folder = folder
    entry.title = try value("Title", of: element)?.text ?? ""
    entry.user = try value("UserName", of: element)?.text ?? ""
    if let url = try value("URL", of: element)?.text, !url.isEmpty { entry.places.append(url) }
    if let url = try element["OverrideURL"]?.text(in: text), !url.isEmpty { entry.places.append(url) }
    if let password = try value("Password", of: element), password.count > 0 {
      entry.secret = (password, try string("Password", of: element)?.content ?? 0..<0)
    }
    if let notes = try value("Notes", of: element) { entry.add("notes", secret: notes) }
    try addStrings(of: element, to: &entry)
    if let tags = try element["Tags"]?.text(in: text) { entry.add("tags", text: tags) }
    if let times = element["Times"], try times["Expires"]?.text(in: text) == "True" {
      entry.add("expires", text: try times["ExpiryTime"]?.text(in: text) ?? "")
    }
    entry.former = try (element["History"]?.all("Entry") ?? []).compactMap { try value("Password", of: $0) }
    try addLost(of: element, entry.title)
    let attached = element.all("Binary")
    if !attached.isEmpty {
      entry.add("files", text: try attached.map { try $0["Key"]?.text(in: text) ?? "" }.joined(separator: ", "))
    }
    let count = result.items.count
    try result.add(entry)
    guard result.items.count > count else { return }
    for file in attached { try add(file, to: count, way(of: entry)) }
  }

  /// A value, or that of another entry if it is a reference.
  private func value(_ name: String, of entry: XMLText) throws -> HeldSecret? {
    guard let element = try string(name, of: entry) else { return nil }
    guard element.attributes["Protected"] != "True" else { throw ForeignError(.exportEncrypted, line: element.line) }
    let value = try element.secret(in: text)
    guard let (wanted, id) = Self.reference(value), let other = entries[id], let held = try string(wanted, of: other) else {
      return value
    }
    return try held.secret(in: text)
  }

  /// `{REF:P@I:HEXADECIMAL}`: the part of the entry with this identifier, of which the XML has base64.
  private static func reference(_ value: HeldSecret) -> (name: String, id: String)? {
    guard value.count == 42, value[0] == UInt8(ascii: "{") else { return nil }
    let words = value.text.dropFirst().dropLast().split(separator: ":")
    let parts = ["T@I": "Title", "U@I": "UserName", "P@I": "Password", "A@I": "URL", "N@I": "Notes"]
    guard words.count == 3, words[0] == "REF", let name = parts[String(words[1])] else { return nil }
    let digits = Array(words[2])
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    guard bytes.count == 16, let id = try? Base64.encode(Secret(copying: bytes)) else { return nil }
    return (name, HeldSecret(id).text)
  }

  private func addStrings(of element: XMLText, to entry: inout ForeignEntry) throws {
    var settings: [String: String] = [:]
    for one in element.all("String") {
      let name = try one["Key"]?.text(in: text) ?? ""
      if Self.codeSettings.contains(name) { settings[name] = try value(name, of: element)?.text }
    }
    for one in element.all("String") {
      let name = try one["Key"]?.text(in: text) ?? ""
      guard !Self.names.contains(name), !Self.codeSettings.contains(name), let value = try value(name, of: element) else {
        continue
      }
      if Self.codes.contains(name) {
        try entry.add(otp: value, parameters: Self.parameters(settings))
      } else if name.hasPrefix("KP2A_URL") {
        entry.places.append(value.text)
      } else if one["Value"]?.attributes["ProtectInMemory"] == "True" {
        entry.add(name, secret: value)
      } else {
        entry.add(name, text: value.text)
      }
    }
  }

  /// Those of a URL for codes.
  private static func parameters(_ settings: [String: String]) -> String {
    // `30;6`: the period and the number of digits.
    let both = settings["TOTP Settings"]?.split(separator: ";").map(String.init) ?? []
    let period = settings["TimeOtp-Period"] ?? both.first ?? ""
    let digits = settings["TimeOtp-Length"] ?? (both.count > 1 ? both[1] : "")
    let algorithm = (settings["TimeOtp-Algorithm"] ?? "").replacing("HMAC-", with: "").replacing("-", with: "")
    return [("period", period), ("digits", digits), ("algorithm", algorithm)]
      .filter { !$0.1.isEmpty && $0.1.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } }
      .map { "&\($0.0)=\($0.1)" }.joined()
  }

  /// Automatic typing, and what plug-ins have written.
  private mutating func addLost(of element: XMLText, _ title: String) throws {
    for item in element["CustomData"]?.all("Item") ?? [] {
      result.lost.append(LostPart(line: item.line, what: "\(title): \(try item["Key"]?.text(in: text) ?? "")", .setting))
    }
    for association in element["AutoType"]?.all("Association") ?? [] {
      result.lost.append(LostPart(line: association.line, what: "\(title): AutoType", .setting))
    }
  }

  private mutating func add(_ file: XMLText, to item: Int, _ way: String?) throws {
    let name = try file["Key"]?.text(in: text) ?? ""
    let own = file["Value"]
    let holder = own?.attributes["Ref"].map { files[$0] } ?? own
    guard let holder else {
      attachments.append(.init(item: item, name: name, content: nil, path: way, isCompressed: false, line: file.line))
      return
    }
    guard holder.attributes["Protected"] != "True" else { throw ForeignError(.exportEncrypted, line: holder.line) }
    // Base64 has four bytes for three.
    guard holder.content.count <= SourceText.maximumFieldByteCount / 3 * 4 + 4 else {
      result.lost.append(LostPart(line: file.line, what: name, .tooLarge))
      return
    }
    guard let content = try Base64.decode(text.long(holder.content)) else {
      throw ForeignError(.base64Malformed, line: holder.line, name)
    }
    let isCompressed = holder.attributes["Compressed"] == "True"
    attachments.append(
      .init(
        item: item, name: name, content: HeldSecret(content), path: nil, isCompressed: isCompressed, line: file.line))
  }
}

extension SourceText {
  /// A part that may be longer than a value, without blanks around it.
  fileprivate func long(_ range: Range<Int>) throws -> Secret {
    let range = trimmed(range)
    var secret = try Secret(count: range.count)
    for (target, offset) in range.enumerated() { secret.write(self[offset], at: target) }
    return secret
  }
}
