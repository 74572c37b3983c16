import ForeignFormats
import Foundation
import ProgramSecrets
import SecretMemory
import Testing
import VaultCore

/// Exports of other vaults.
@Suite struct VaultFormatTests {
  static let bitwardenExport = #"""
    {"encrypted":false,"folders":[{"id":"f","name":"Work/Mail"}],"items":[
    {"id":"1","folderId":"f","type":1,"reprompt":1,"name":"Mail","notes":"n","favorite":true,"collectionIds":null,
     "fields":[{"name":"PIN","value":"1","type":1},{"name":"Color","value":"red","type":0},{"name":null,"value":"l","type":3}],
     "login":{"uris":[{"match":null,"uri":"https://mail.example.org"},{"uri":"https://m.example.org"}],"username":"ada",
      "password":"p\u00e9","totp":"JBSW y3dp","fido2Credentials":[{"keyValue":"k"}]},
     "passwordHistory":[{"lastUsedDate":"2024-01-01","password":"b"},{"lastUsedDate":"2023-01-01","password":"a"},
      {"lastUsedDate":"2024-02-01","password":"b"},{"lastUsedDate":"2024-03-01","password":"p\u00e9"}]},
    {"type":2,"name":"Note","notes":"text","secureNote":{"type":0}},
    {"type":3,"name":"Visa","card":{"cardholderName":"Ada","number":"4111","code":"99","expYear":null}},
    {"type":4,"name":"Me","identity":{"firstName":"Ada","ssn":""}},
    {"type":5,"name":"Key","sshKey":{"privateKey":"-----BEGIN","publicKey":"ssh-ed25519 A"}},
    {"type":1,"name":"Nothing","login":{"username":"x","password":""},"fields":[]}]}
    """#

  @Test func bitwarden() throws {
    let found = try BitwardenFormat.items(of: FormatTests.text(Self.bitwardenExport))
    #expect(
      FormatTests.rows(found) == [
        "mail.example.org ada pé #otp=otpauth://totp/mail.example.org:ada?secret=JBSWY3DP&issuer=mail.example.org"
          + " #fido2Credentials=[{\"keyValue\":\"k\"}] #notes=n #PIN=1 #field=l",
        "Note  text", "Visa  4111 #code=99", "Me  ", "Key  -----BEGIN",
      ])
    #expect(FormatTests.lost(found) == ["12 Nothing no-secret"])
    let mail = found.items[0]
    #expect(mail.former.map(FormatTests.value) == ["a", "b"])
    #expect(mail.folder == "Work/Mail" && mail.item.label == "Mail" && mail.line == 2)
    let attributes = ["url", "url-2", "Color", "favorite", "reprompt"].map { mail.item["user.\($0)"] ?? "" }
    #expect(attributes == ["https://mail.example.org", "https://m.example.org", "red", "true", "1"])
    #expect(found.items[1].item["user.secret-field"] == "notes" && found.items[2].item["user.secret-field"] == "number")
    #expect(found.items[2].item["user.cardholderName"] == "Ada" && found.items[4].item["user.publicKey"] == "ssh-ed25519 A")
  }

  /// Fields of one name, of names that a number makes, and of those that are attributes of each item.
  @Test func noFieldTakesThePlaceOfAnother() throws {
    func field(_ name: String, _ value: String, _ type: Int) -> String {
      #"{"name":"\#(name)","value":"\#(value)","type":\#(type)}"#
    }
    let fields = [
      field("url", "a", 0), field("folder", "b", 0), field("a", "1", 0), field("a", "2", 0), field("a-2", "3", 0),
      field("pin", "1", 1), field("pin", "2", 1), field("pin-2", "3", 1), field("pin", "4", 1),
    ]
    let text = #"""
      {"folders":[{"id":"f","name":"F"}],"items":[{"type":1,"folderId":"f","name":"n","fields":[\#(fields.joined(separator: ","))],
      "login":{"uris":[{"uri":"https://x.org"}],"username":"u","password":"p"}}]}
      """#
    let found = try BitwardenFormat.items(of: FormatTests.text(text))
    #expect(FormatTests.rows(found) == ["x.org u p #pin=1 #pin-2=2 #pin-2-2=3 #pin-3=4"])
    let item = try #require(found.items.first).item
    let names = ["url", "url-2", "folder-2", "a", "a-2", "a-2-2"]
    #expect(names.map { item["user.\($0)"] } == ["https://x.org", "a", "b", "1", "2", "3"])
  }

  @Test(arguments: [
    ("{\"encrypted\":true,\"data\":\"2.x\"}", ForeignError.Code.accountEncrypted, 1), ("{\"items\":{}}", .otherShape, 1),
    ("{\"items\":\n[\n1]}", .otherShape, 3), ("[]", .otherShape, 1), ("{\"items\":[{", .cutOff, 1),
  ]) func badBitwarden(text: String, code: ForeignError.Code, line: Int) throws {
    do {
      _ = try BitwardenFormat.items(of: FormatTests.text(text))
      Issue.record("is read")
    } catch let error as ForeignError { #expect(error.code == code && error.line == line) }
  }

  @Test func onePassword() throws {
    let text = #"""
      {"accounts":[{"vaults":[{"attrs":{"name":"Private"},"items":[{"state":"archived","details":{"loginFields":[
      {"value":"ada","name":"u","fieldType":"T","designation":"username"},{"value":"p","fieldType":"P","designation":"password"},
      {"value":"on","name":"stay","fieldType":"C","designation":""}],"notesPlain":"n","sections":[{"fields":[
      {"title":"PIN","id":"i","value":{"concealed":"7"}},{"title":"","id":"born","value":{"date":12}},
      {"title":"c","id":"c","value":{"totp":"otpauth://totp/a?secret=JBSWY3DP"}},{"title":"m","value":{"email":{"email_address":"a@b"}}},
      {"title":"f","value":{"file":{"fileName":"k.pem","documentId":"d"}}},{"title":"new","value":{"unknown":{"x":1}}}]}],
      "passwordHistory":[{"value":"b","time":7},{"value":"a","time":5}]},
      "overview":{"title":"One","urls":[{"url":"https://one.example.org"}],"tags":["x","y"]}},
      {"details":{"password":"q"},"overview":{"title":"Two"}},{"details":{},"overview":{"title":"Three"}}]}]}]}
      """#
    let (found, attachments) = try OnePasswordFormat.items(of: FormatTests.text(text))
    #expect(
      FormatTests.rows(found) == [
        "one.example.org ada p #stay=on #PIN=7 #otp=otpauth://totp/a?secret=JBSWY3DP #new={\"x\":1} #notes=n", "Two  q",
      ])
    #expect(FormatTests.lost(found) == ["9 Three no-secret"])
    #expect(found.items[0].former.map(FormatTests.value) == ["a", "b"] && found.items[0].folder == "Private")
    #expect(found.items[0].item["user.m"] == "a@b" && found.items[0].item["user.born"] == "12")
    #expect(found.items[0].item["user.tags"] == "x, y" && found.items[0].item["user.state"] == "archived")
    #expect(attachments.map(\.member) == ["files/d___k.pem"] && attachments.map(\.item) == [0])
  }

  @Test func pass() throws {
    func row(_ text: String, _ names: [String]) throws -> String? {
      let item = try PassFormat.item(of: HeldSecret(Secret(copying: Array(text.utf8))), named: names)
      let found = ForeignItems([item].compactMap(\.self))
      return FormatTests.rows(found).first.map { "\($0)\(item?.folder.map { " in \($0)" } ?? "")" }
    }
    #expect(
      try row("p\nlogin: ada\nURL: https://g.org\nPIN: 1\nfree\r\n\nmore: \notpauth://totp/g?secret=A\n", ["a", "b", "g"])
        == "g ada p #PIN=1 #otp=otpauth://totp/g?secret=A #notes=free\n\nmore:  in a/b")
    #expect(try row("p", ["a", "github.com", "bob"]) == "github.com bob p in a")
    #expect(try row("p", ["alone"]) == "alone  p")
    #expect(try row("\nnote", ["alone"]) == "alone  note")
    #expect(try row("", ["alone"]) == nil)
    let bytes: [UInt8] = [0xFF, 0, 1]
    let item = try PassFormat.item(of: HeldSecret(Secret(copying: bytes)), named: ["k", "f"])
    #expect(item?.secret.secret.copyIntoUnprotectedBytes() == bytes)
  }

  static let keePassExport = """
    <?xml version="1.0" encoding="utf-8"?><!-- x -->
    <KeePassFile><Meta><RecycleBinEnabled>True</RecycleBinEnabled><RecycleBinUUID>bin</RecycleBinUUID>
    <Binaries><Binary ID="0">aGFsbG8=</Binary></Binaries></Meta><Root><Group><Name>db</Name><Group><Name>web</Name>
    <Entry><UUID>EBESExQVFhcYGRobHB0eHw==</UUID><Tags>a;b</Tags><Times><Expires>True</Expires><ExpiryTime>2030</ExpiryTime></Times>
    <String><Key>Title</Key><Value>T &amp; &#x41;</Value></String><String><Key>UserName</Key><Value>ada</Value></String>
    <String><Key>Password</Key><Value ProtectInMemory="True">&lt;p&gt;<![CDATA[<]]>]</Value></String>
    <String><Key>URL</Key><Value>https://h.example.org:443/x</Value></String><String><Key>Notes</Key><Value>a\r\nb</Value></String>
    <String><Key>PIN</Key><Value ProtectInMemory="True">1</Value></String><String><Key>Open</Key><Value>o</Value></String>
    <String><Key>TOTP Seed</Key><Value>jbsw y3dp</Value></String><String><Key>TOTP Settings</Key><Value>60;8</Value></String>
    <Binary><Key>f.txt</Key><Value Ref="0"/></Binary><Binary><Key>g.txt</Key><Value Ref="1"/></Binary>
    <CustomData><Item><Key>plugin</Key><Value>x</Value></Item></CustomData>
    <History><Entry><String><Key>Password</Key><Value>o1</Value></String></Entry><Entry><String><Key>Password</Key><Value>o1</Value></String></Entry>
    <Entry><String><Key>Password</Key><Value>o2</Value></String></Entry></History></Entry></Group>
    <Entry><String><Key>Title</Key><Value>Same</Value></String>
    <String><Key>Password</Key><Value>{REF:P@I:101112131415161718191A1B1C1D1E1F}</Value></String></Entry>
    <Group><UUID>bin</UUID><Name>Bin</Name><Entry><String><Key>Title</Key><Value>Gone</Value></String></Entry></Group>
    </Group></Root></KeePassFile>
    """

  @Test func keePass() throws {
    let (found, attachments) = try KeePassFormat.items(of: FormatTests.text(Self.keePassExport))
    #expect(
      FormatTests.rows(found) == [
        "Same  <p><]",
        "h.example.org ada <p><] #notes=a\nb #PIN=1 "
          + "#otp=otpauth://totp/h.example.org:ada?secret=JBSWY3DP&issuer=h.example.org&period=60&digits=8",
      ])
    let item = found.items[1]
    #expect(item.former.map(FormatTests.value) == ["o1", "o2"] && item.folder == "web" && item.item.label == "T & A")
    #expect(item.item["user.Open"] == "o" && item.item["user.tags"] == "a;b" && item.item["user.expires"] == "2030")
    #expect(FormatTests.lost(found) == ["12 T & A: plugin setting", "17 Gone removed"])
    #expect(attachments.map(\.name) == ["f.txt", "g.txt"] && attachments.map(\.item) == [1, 1])
    #expect(attachments[0].content.map(FormatTests.value) == "hallo" && attachments[1].content == nil)
    #expect(attachments[1].path == "/web/T & A")
  }

  @Test(arguments: [
    ("<a>", ForeignError.Code.cutOff, 1), ("<a>\n</b>", .notXML, 2), ("<!DOCTYPE a><a/>", .notXML, 1), ("<a>&x;</a>", .notXML, 1),
    ("<a b=1/>", .notXML, 1), ("<a b='1' b='2'/>", .notXML, 1), ("<a/>x", .notXML, 1), ("<a>\n&#0;</a>", .notXML, 2),
    ("<a/>", .otherShape, 1), (String(repeating: "<a>", count: 40), .tooDeep, 1), ("", .cutOff, 1),
    (keePassExport.replacing("ProtectInMemory", with: "Protected"), .exportEncrypted, 6),
    (keePassExport.replacing("aGFsbG8=", with: "!"), .base64Malformed, 3),
  ]) func badKeePass(text: String, code: ForeignError.Code, line: Int) throws {
    do {
      _ = try KeePassFormat.items(of: FormatTests.text(text))
      Issue.record("is read")
    } catch let error as ForeignError { #expect(error.code == code && error.line == line, "\(error)") }
  }

  /// A file that is cut off anywhere is refused.
  @Test func aCutExportIsRefused() throws {
    for (text, parse) in [
      (Self.bitwardenExport, { _ = try BitwardenFormat.items(of: $0) }),
      (Self.keePassExport, { _ = try KeePassFormat.items(of: $0) }),
    ] as [(String, (SourceText) throws -> Void)] {
      for count in stride(from: 0, to: text.unicodeScalars.count - 1, by: 7) {
        let cut = try FormatTests.text(String(String.UnicodeScalarView(text.unicodeScalars.prefix(count))))
        #expect(throws: ForeignError.self) { try parse(cut) }
      }
    }
  }

  /// Against the writer of Python's library.
  @Test func textsOfXMLArePythonsTexts() throws {
    let script = """
      import json, random, xml.etree.ElementTree as tree
      random.seed(3)
      texts = ["".join(random.choice("ab<>&\\"' \\n\\té€😀]") for _ in range(random.randrange(9))) for _ in range(300)]
      root = tree.Element("r", {"a": "x"})
      for text in texts: tree.SubElement(root, "t").text = text
      print(json.dumps([tree.tostring(root, encoding="unicode"), tree.tostring(root).decode(), texts]))
      """
    let python = Process()
    let output = Pipe()
    python.executableURL = URL(filePath: "/usr/bin/env")
    python.arguments = ["python3", "-c", script]
    python.standardOutput = output
    try python.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    let parts = try #require(try JSONSerialization.jsonObject(with: data) as? [Any])
    let texts = try #require(parts[2] as? [String])
    for document in [parts[0], parts[1]] {
      let source = try FormatTests.text(try #require(document as? String))
      let found = try XMLText(of: source).children.map { try $0.text(in: source) }
      #expect(found == texts && texts.count == 300)
    }
  }
}
