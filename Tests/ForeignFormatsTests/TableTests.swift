import ForeignFormats
import Foundation
import Testing
import VaultCore

/// Tables of passwords.
@Suite struct TableTests {
  @Test func chrome() throws {
    let found = try CSVFormat.items(
      of: FormatTests.text(
        "\u{FEFF}name,url,username,password,note\ngithub.com,https://GitHub.com:443/login,ada,\"p,a\"\"s\ns\",n\r\n"
          + "x,android://k==@com.example.app/,bob,p,\n\nonly,,,,\n,http://h:8080/a,,q,\n"), from: .chrome)
    #expect(FormatTests.rows(found) == ["github.com ada p,a\"s\ns #notes=n", "com.example.app bob p", "h:8080  q"])
    #expect(found.items.map(\.line) == [2, 4, 7])
    #expect(FormatTests.lost(found) == ["6 only no-secret"])
    #expect(found.items[0].item["user.url"] == "https://GitHub.com:443/login" && found.items[0].item.label == nil)
    #expect(found.items[1].item.label == "x")
  }

  @Test func firefox() throws {
    let found = try CSVFormat.items(
      of: FormatTests.text(
        "\"url\",\"username\",\"password\",\"httpRealm\",\"formActionOrigin\",\"guid\",\"timeCreated\"\r\n"
          + "\"https://a.example.org\",\"u\",\"p\",\"staff\",,\"{1}\",\"17\""), from: .firefox)
    #expect(FormatTests.rows(found) == ["a.example.org u p"])
    let item = found.items[0].item
    #expect(item["user.httpRealm"] == "staff" && item["user.guid"] == "{1}" && item["user.timeCreated"] == "17")
    #expect(item["user.formActionOrigin"] == nil)
  }

  @Test func apple() throws {
    let found = try CSVFormat.items(
      of: FormatTests.text(
        "Title,URL,Username,Password,Notes,OTPAuth\nWork (ada),https://w.example.org/,ada,p,,"
          + "otpauth://totp/w:ada?secret=GEZDGNBV&period=60\n"), from: .apple)
    #expect(FormatTests.rows(found) == ["w.example.org ada p #otp=otpauth://totp/w:ada?secret=GEZDGNBV&period=60"])
    #expect(found.items[0].item.label == "Work (ada)")
  }

  @Test func columnsOfAnyTableCanBeNamed() throws {
    let text = "Ort;Wer;Pass;PIN;Zeit;Info;Code\na;b;c;1;x;y;gezd gnbv\na;b;c;;;;!\n"
    let found = try CSVFormat.items(
      of: FormatTests.text(text),
      parts: [("Ort", .service), ("Wer", .account), ("Zeit", .none), ("Info", .attribute), ("Code", .otp)])
    #expect(
      FormatTests.rows(found) == ["a b c #PIN=1 #otp=otpauth://totp/a:b?secret=GEZDGNBV&issuer=a", "a b c #otp=!"])
    #expect(found.items[0].item["user.Info"] == "y")
    #expect(FormatTests.lost(found) == ["1 Zeit setting"])
  }

  @Test func columnsOfOneMeaningAreNumbered() throws {
    let found = try CSVFormat.items(
      of: FormatTests.text("title,password,password,Password,login,user,url,website\nt,1,2,3,u,v,a.b,c.d\n"))
    #expect(FormatTests.rows(found) == ["a.b u 1 #password=2 #Password=3"])
    #expect(found.items[0].item["user.user"] == "v" && found.items[0].item["user.url-2"] == "c.d")
  }

  @Test(arguments: [
    ("a,password\n1,\"2\n", ForeignError.Code.quoteOpen, 2), ("a,password\n\"1\n\"x,2\n", .textAfterQuote, 3),
    ("a,password\n\n1,2,3\n", .columnCount, 3), ("a,password\n1\n", .columnCount, 2), ("", .cutOff, 1), ("\n\n", .cutOff, 1),
    ("a,b\n1,2\n", .headerUnknown, 1),
  ]) func badTables(text: String, code: ForeignError.Code, line: Int) throws {
    #expect(throws: ForeignError(code, line: line)) { try CSVFormat.items(of: FormatTests.text(text)) }
  }

  @Test func anotherProgramsTableIsRefused() throws {
    let table = try FormatTests.text("title,url,username,password\na,b,c,d\n")
    for program in [CSVFormat.Program.chrome, .firefox] {
      #expect(throws: ForeignError(.headerUnknown, line: 1)) { try CSVFormat.items(of: table, from: program) }
    }
    #expect(throws: ForeignError(.columnMissing, line: 1, "A")) { try CSVFormat.items(of: table, parts: [("A", .secret)]) }
    #expect(throws: ForeignError(.headerUnknown, line: 1)) { try CSVFormat.items(of: table, parts: [("password", .notes)]) }
  }

  /// Against the writer of Python's library.
  @Test func tablesArePythonsTables() throws {
    let script = """
      import csv, io, json, random
      random.seed(7)
      tables = []
      for number in range(100):
          rows = [["".join(random.choice('ab,;"\\n\\t é€') for _ in range(random.randrange(6))) for _ in range(3)]
                  for _ in range(random.randrange(1, 5))]
          separator = random.choice(",;\\t")
          out = io.StringIO()
          writer = csv.writer(out, delimiter=separator, quoting=random.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
                              lineterminator=random.choice(["\\n", "\\r\\n"]))
          writer.writerow(["service", "account", "password"])
          for row in rows: writer.writerow(["s" + row[0], "u" + row[1], "p" + row[2]])
          tables.append({"text": out.getvalue(), "rows": rows})
      print(json.dumps(tables))
      """
    struct Table: Decodable {
      let text: String
      let rows: [[String]]
    }
    let python = Process()
    let output = Pipe()
    python.executableURL = URL(filePath: "/usr/bin/env")
    python.arguments = ["python3", "-c", script]
    python.standardOutput = output
    try python.run()
    let tables = try JSONDecoder().decode([Table].self, from: output.fileHandleForReading.readToEnd() ?? Data())
    #expect(tables.count == 100)
    for table in tables {
      let found = try CSVFormat.items(of: FormatTests.text(table.text))
      #expect(FormatTests.rows(found) == table.rows.map { "s\($0[0]) u\($0[1]) p\($0[2])" }, "\(table.text)")
    }
  }
}
