import CofferCommand
import CofferConsole
import Testing

@Suite struct ItemNameTests {
  @Test func splitsAtTheFirstSlash() throws {
    #expect(try ItemName(parsing: "mail") == ItemName(service: "mail"))
    #expect(try ItemName(parsing: "mail/ada") == ItemName(service: "mail", account: "ada"))
    #expect(try ItemName(parsing: "mail/ada/x") == ItemName(service: "mail", account: "ada/x"))
    #expect(try ItemName(parsing: "mail/") == ItemName(service: "mail", account: ""))
    #expect(try ItemName(parsing: "é/💡") == ItemName(service: "é", account: "💡"))
  }

  @Test func decodesURIs() throws {
    #expect(try ItemName(parsing: "coffer://work/db/ada") == ItemName(group: "work", service: "db", account: "ada"))
    #expect(try ItemName(parsing: "coffer://work/db") == ItemName(group: "work", service: "db"))
    let odd = try ItemName(parsing: "coffer://a%2Fb/https%3A%2F%2Fx/%c3%a9#user%20name")
    #expect(try odd == ItemName(group: "a/b", service: "https://x", account: "é", field: "user name"))
  }

  @Test(arguments: [
    "", "/ada", "coffer://", "coffer://work", "coffer://work/", "coffer:///db/ada", "coffer://w/%zz", "coffer://w/%4",
    "coffer://w/%ff",
    "coffer://w/a%00b", "coffer://w/a%0ab", "coffer://w/db/ada?x=1", "a\u{1}b", "a\nb", "a/b\u{7F}", "a\u{85}b",
  ])
  func refuses(_ text: String) {
    #expect(throws: Failure.self) { try ItemName(parsing: text) }
  }

  @Test func lengthsAreThoseOfTheVault() throws {
    #expect(try ItemName(parsing: String(repeating: "a", count: 1024)).service.utf8.count == 1024)
    #expect(throws: Failure.self) { try ItemName(parsing: String(repeating: "a", count: 1025)) }
    #expect(throws: Failure.self) { try ItemName(parsing: String(repeating: "é", count: 513)) }
  }
}
