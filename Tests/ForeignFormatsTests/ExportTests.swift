import CofferTesting
import ForeignFormats
import ProgramSecrets
import SecretMemory
import Testing
import VaultCore

/// An exported item comes back, or the report names what does not.
@Suite struct ExportTests {
  private static let formats: [@Sendable ([ExportedItem.Outline]) -> any ExportFormat] = [
    { CSVExport(for: $0) }, { BitwardenExport(for: $0) }, { _ in DotenvExport() },
  ]

  private static func bytes(_ held: HeldSecret) -> [UInt8] { held.secret.copyIntoUnprotectedBytes() }

  private static func item(
    _ item: Item, _ secret: [UInt8] = Array("s".utf8), group: AccessGroup = .standard,
    companions: [(String, [UInt8])] = [], former: [(String, [UInt8])] = []
  ) throws -> ExportedItem {
    let service = item["service"] ?? item["server"] ?? ""
    let outline = ExportedItem.Outline(
      item, service: service, account: item["account"] ?? "", group: group, fields: companions.map(\.0))
    var result = ExportedItem(outline, HeldSecret(try Secret(copying: secret)))
    result.companions = try companions.map { .init(field: $0.0, secret: HeldSecret(try Secret(copying: $0.1))) }
    result.former = try former.map { .init(time: $0.0, secret: HeldSecret(try Secret(copying: $0.1))) }
    return result
  }

  /// The whole file, the items that the import finds in it, and the losses, by item.
  private static func exported(
    _ items: [ExportedItem], _ format: any ExportFormat
  ) throws -> (text: String, found: ForeignItems, losses: [[ExportLoss]]) {
    var pieces = [try HeldSecret(text: format.head)]
    var losses: [[ExportLoss]] = []
    for item in items {
      let (record, lost) = try format.written(item)
      losses.append(lost)
      if let record { pieces += (pieces.count > 1 ? [try HeldSecret(text: format.separator)] : []) + record }
    }
    pieces.append(try HeldSecret(text: format.tail))
    let text = try SourceText(of: pieces)
    return (text.text(0..<text.count), try format.items(of: text, like: items[0]), losses)
  }

  // MARK: Examples

  @Test func aTableHasAColumnForEachPart() throws {
    var item = Item(service: "github.com", account: "ada")
    item.label = "Git\"Hub"
    item["user.url"] = "https://github.com/login"
    item["user.team"] = "a,b"
    item.comment = "two\nlines"
    let code = "otpauth://totp/x?secret=GEZDGNBV"
    let one = try Self.item(
      item, Array("p,\"q".utf8), companions: [("notes", Array("n".utf8)), ("otp", Array(code.utf8)), ("PIN", [0x31])])
    let two = try Self.item(Item(service: "x", account: "y"), group: try AccessGroup("job"))
    let (text, found, losses) = try Self.exported([one, two], CSVExport(for: [one.outline, two.outline]))
    #expect(
      text == """
        "title","url","username","password","notes","totp","folder","service","attribute:coffer.comment","attribute:team",\
        "companion:PIN","companion:otp"
        "Git""Hub","https://github.com/login","ada","p,""q","n","\(code)",,"github.com","two\nlines","a,b","1",
        ,,"y","s",,,"job","x",,,,

        """)
    #expect(losses == [[], []])
    #expect(found.items.map(\.folder) == [nil, "job"] && found.items[0].item == item)
  }

  @Test func bitwardenGetsLoginsWithTheirHistory() throws {
    var item = Item(service: "mail", account: "ada")
    item.label = "Mail"
    let one = try Self.item(
      item, Array("new".utf8), group: try AccessGroup("job"), companions: [("PIN", [0]), ("otp", Array("ABC".utf8))],
      former: [("2026-01-02T00:00:00Z", [0x62]), ("2026-01-01T00:00:00Z", [0x61]), ("2026-01-02T00:00:00Z", [0x63])])
    let (text, found, losses) = try Self.exported([one], BitwardenExport(for: [one.outline]))
    #expect(
      text == """
        {"encrypted":false,"folders":[{"id":"00000000-0000-4000-8000-000000000001","name":"job"}],"items":[
        {"type":1,"reprompt":0,"favorite":false,"folderId":"00000000-0000-4000-8000-000000000001","name":"Mail","notes":null,\
        "login":{"uris":[],"username":"ada","password":"new","totp":null},"fields":[{"name":"PIN","value":"\\u0000","type":1},\
        {"name":"otp","value":"ABC","type":1},{"name":"coffer.service","value":"mail","type":0}],"passwordHistory":[\
        {"lastUsedDate":"2026-01-02T00:00:00.000Z","password":"b"},{"lastUsedDate":"2026-01-02T00:00:00.001Z","password":"a"},\
        {"lastUsedDate":"2026-01-02T00:00:00.002Z","password":"c"}]}
        ]}

        """)
    #expect(losses == [[]])
    #expect(found.items[0].item == item && found.items[0].former.map { Self.bytes($0) } == [[0x62], [0x61], [0x63]])
  }

  @Test func variablesAreQuotedSoThatShellsReadThem() throws {
    func item(_ name: String, _ value: String) throws -> ExportedItem {
      try Self.item(Item(service: "shop", account: name), Array(value.utf8))
    }
    let items = [try item("A", "x $y\n\\"), try item("B", "it's \"$5\" \\"), try item("C", ""), try item("D", "coffer://g/s")]
    let (text, found, losses) = try Self.exported(items, DotenvExport())
    #expect(text == "A='x $y\n\\'\nB=\"it's \\\"\\$5\\\" \\\\\"\nC=''\nD='coffer://g/s'\n")
    #expect(FormatTests.rows(found) == ["shop A x $y\n\\", "shop B it's \"$5\" \\"])
    #expect(losses == [[], [], [ExportLoss("item", .changed)], [ExportLoss("item", .changed)]])
    #expect(try DotenvExport().written(item("A-B", "x")).losses == [ExportLoss("item", .notVariable)])
  }

  @Test func eachPartThatHasNoPlaceIsNamed() throws {
    var item = Item(.internetPassword)
    (item["server"], item["account"], item["protocol"], item["path"]) = ("e.org", "a", "https", "/x")
    item.attributes["port"] = .integer(8443)
    item.attributes[Item.confirm] = .integer(1)
    item.attributes["user.raw"] = .data([1])
    let one = try Self.item(item, companions: [("PIN", [0xFF]), ("empty", [])], former: [("2026-01-01T00:00:00Z", [0xFE])])
    let common: [ExportLoss] = [
      ExportLoss("class", .otherClass), ExportLoss("attribute confirm", .noPlace), ExportLoss("attribute path", .noPlace),
      ExportLoss("attribute port", .noPlace), ExportLoss("attribute protocol", .noPlace), ExportLoss("attribute raw", .noPlace),
      ExportLoss("companion PIN", .notText), ExportLoss("companion empty", .noPlace), ExportLoss("versions", .notText),
    ]
    for format in Self.formats.prefix(2) {
      let (_, found, losses) = try Self.exported([one], format([one.outline]))
      #expect(losses == [common])
      #expect(found.items[0].item["user.url"] == "https://e.org:8443/x")
    }
  }

  // MARK: Any items

  private static let samples: [[UInt8]] = [
    Array("\"".utf8), Array("'".utf8), Array(",;\t".utf8), Array("\n".utf8), Array("\r\n".utf8), [0], [0xFF], [0xC3, 0xA9],
    Array("é😀\u{2028}".utf8), Array("\\\\".utf8), Array("$x `y`".utf8), Array(" x ".utf8), Array("#".utf8), Array("{{ x }}".utf8),
    Array("coffer://".utf8), Array("otpauth://".utf8), Array("GEZDGNBV".utf8), Array("null".utf8), Array("\u{FEFF}".utf8),
    Array("=".utf8), Array("/".utf8), [0x1B], [0x7F], Array("\\u0041".utf8), [0xED, 0xA0, 0x80], [0xF0, 0x9F],
  ]

  private static func secret(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...4, using: &random)).flatMap { _ in samples.randomElement(using: &random) ?? [] }
  }

  private static func text(_ random: inout SeededGenerator) -> String {
    String(String.UnicodeScalarView(String(decoding: secret(&random), as: UTF8.self).unicodeScalars.filter { $0.value != 0 }))
  }

  private static func name(_ random: inout SeededGenerator, _ plain: String) -> String {
    let text = text(&random).unicodeScalars.filter { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
    return Bool.random(using: &random) ? plain : plain + String(String.UnicodeScalarView(text))
  }

  private static func anyItem(_ number: Int, _ random: inout SeededGenerator) throws -> ExportedItem {
    var item = Item(service: name(&random, "s\(number)"), account: name(&random, "A"))
    if Int.random(in: 0...2, using: &random) == 0 { return try Self.item(item, secret(&random)) }
    if Bool.random(using: &random) { item.label = text(&random) }
    if Bool.random(using: &random) { item.comment = text(&random) }
    if Bool.random(using: &random) { item["user.url"] = ["https://h.org/x", text(&random)].randomElement(using: &random) }
    for own in ["team", "folder", "title", "coffer.service", "otp"] where Int.random(in: 0...4, using: &random) == 0 {
      item.attributes["user.\(own)"] = .text(text(&random))
    }
    let fields = ["notes", "otp", "PIN", "password", "a,\"b"].filter { _ in Int.random(in: 0...2, using: &random) == 0 }
    let former = (0..<Int.random(in: 0...3, using: &random)).map { ("2026-01-0\($0 % 2 + 1)T00:00:00Z", secret(&random)) }
    return try Self.item(
      item, secret(&random), group: Bool.random(using: &random) ? .standard : try AccessGroup("job"),
      companions: fields.map { ($0, secret(&random)) }, former: former)
  }

  /// The whole file is read, not record by record as the export does it.
  @Test(arguments: 0..<3) func whatIsNotReportedComesBack(format: Int) throws {
    var random = SeededGenerator(seed: UInt64(format) + 1)
    var (whole, lossy) = (0, 0)
    for _ in 0..<60 {
      var items = try (0..<4).map { try Self.anyItem($0, &random) }
      // Variables have no service and no versions, and one name each.
      if format != 1 { for index in items.indices { items[index].former = [] } }
      if format == 2 { items = [items[0]] }
      let (text, found, losses) = try Self.exported(items, Self.formats[format](items.map(\.outline)))
      for (item, losses) in zip(items, losses) {
        let reported = Set(losses.map(\.part))
        if reported.isEmpty { whole += 1 } else { lossy += 1 }
        guard !reported.contains("item") else { continue }
        let same = found.items.first {
          $0.item["service"] == item.outline.item["service"] && $0.item["account"] == item.outline.item["account"]
            && Self.bytes($0.secret) == Self.bytes(item.secret)
        }
        guard let same else {
          Issue.record("\(item.outline.service)/\(item.outline.account) is missing: \(text)")
          continue
        }
        for (name, value) in item.outline.item.attributes {
          let shown = name.hasPrefix(Item.userPrefix) ? String(name.dropFirst(Item.userPrefix.count)) : name
          if !reported.contains("attribute \(shown)") { #expect(same.item.attributes[name] == value, "\(name): \(text)") }
        }
        for companion in item.companions where !reported.contains("companion \(companion.field)") {
          let other = same.companions.first { $0.field == companion.field }
          #expect(other.map { Self.bytes($0.secret) } == Self.bytes(companion.secret), "\(companion.field): \(text)")
        }
        if !reported.contains("versions") {
          #expect(same.former.map { Self.bytes($0) } == item.former.map { Self.bytes($0.secret) }, "\(text)")
        }
        if format != 2 { #expect(same.folder == (item.outline.group == .standard ? nil : "job")) }
      }
    }
    // Neither is the rule, or nothing would be shown.
    #expect(whole > 5 && lossy > 5, "\(whole) whole, \(lossy) with losses")
  }

  @Test(arguments: 0..<3) func theLargestSecretComesBack(format: Int) throws {
    for byte in [UInt8(ascii: "\""), 0x01] {
      let item = try Self.item(Item(service: "s", account: "A"), [UInt8](repeating: byte, count: 1 << 20))
      let (_, found, losses) = try Self.exported([item], Self.formats[format]([item.outline]))
      #expect(losses == [[]])
      #expect(found.items.first?.secret.secret.isEqual(to: item.secret.secret) == true)
    }
  }
}
