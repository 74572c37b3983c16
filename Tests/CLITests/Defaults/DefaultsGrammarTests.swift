import CofferPropertyLists
import DefaultsCommand
import Testing

@Suite struct DefaultsGrammarTests {
  static func parse(_ arguments: String...) throws(DefaultsFailure) -> DefaultsInvocation {
    try DefaultsInvocation.parse(arguments)
  }

  /// The edit of `write d k …`.
  static func edit(_ words: String...) throws(DefaultsFailure) -> DefaultsInvocation.Edit? {
    guard case .write(.named("d"), key: "k", let edit) = try DefaultsInvocation.parse(["write", "d", "k"] + words).request else {
      return nil
    }
    return edit
  }

  static func status(_ arguments: String...) -> DefaultsFailure.Status? {
    do throws(DefaultsFailure) {
      _ = try DefaultsInvocation.parse(arguments)
      return nil
    } catch {
      return error.status
    }
  }

  static func dictionary(_ entries: (String, PropertyListValue)...) -> PropertyListDictionary {
    entries.reduce(into: PropertyListDictionary()) { $0[$1.0] = $1.1 }
  }

  @Test func hosts() throws {
    #expect(try Self.parse("read") == DefaultsInvocation(.readAll))
    #expect(try Self.parse("-currentHost", "read", "d") == DefaultsInvocation(host: .current, .read(.named("d"), key: nil)))
    #expect(try Self.parse("-host", "h", "domains") == DefaultsInvocation(host: .named("h"), .domains))
    #expect(Self.status("-host") == .usage)
    #expect(Self.status("-host", "h") == .usage)
    #expect(Self.status("read", "-currentHost") == .usage)
  }

  @Test func domains() throws {
    for name in ["-g", "-globalDomain", "NSGlobalDomain", "Apple Global Domain"] {
      #expect(try Self.parse("read", name, "k").request == .read(.global, key: "k"))
    }
    #expect(try Self.parse("read", "-app", "Player").request == .read(.application("Player"), key: nil))
    #expect(try Self.parse("read", "/tmp/a.plist").request == .read(.path("/tmp/a.plist"), key: nil))
    #expect(try Self.parse("read", "com.example.app", "a key").request == .read(.named("com.example.app"), key: "a key"))
    #expect(Self.status("read", "-app") == .usage)
    #expect(Self.status("read", "-gg") == .usage)
    #expect(Self.status("read", "-") == .usage)
  }

  @Test func verbs() throws {
    #expect(try Self.parse("READ", "d").request == .read(.named("d"), key: nil))
    #expect(try Self.parse("Read-Type", "d", "k").request == .readType(.named("d"), key: "k"))
    #expect(try Self.parse("rename", "d", "a", "b").request == .rename(.named("d"), old: "a", new: "b"))
    #expect(try Self.parse("delete", "d").request == .delete(.named("d"), key: nil))
    #expect(try Self.parse("remove", "d", "k").request == .delete(.named("d"), key: "k"))
    #expect(try Self.parse("import", "d", "-").request == .importFile(.named("d"), path: "-"))
    #expect(try Self.parse("export", "-g", "f").request == .exportFile(.global, path: "f"))
    #expect(try Self.parse("find", "w").request == .find("w"))
    #expect(try Self.parse("explain", "d", "k").request == .explain(.named("d"), key: "k"))
    #expect(try Self.parse("watch").request == .watch(nil, key: nil))
    #expect(try Self.parse("watch", "d", "k").request == .watch(.named("d"), key: "k"))
    #expect(try Self.parse("diff", "a", "b").request == .diff(.named("a"), .named("b")))
    #expect(try Self.parse("diff", "a", "b.plist").request == .diff(.named("a"), .path("b.plist")))
    #expect(try Self.parse("diff", "a", "./b").request == .diff(.named("a"), .path("./b")))
    #expect(try Self.parse("diff", "a", "-g").request == .diff(.named("a"), .global))
    #expect(try Self.parse("doctor").request == .doctor)
    #expect(try Self.parse("printHostIdentifier").request == .hostIdentifier)
    for words in [["help"], ["HELP", "x"], ["--help"], ["-h"], ["read", "--help"]] {
      #expect(try DefaultsInvocation.parse(words).request == .help)
    }
  }

  @Test(arguments: [
    [], ["raed"], ["read-type"], ["read-type", "d"], ["rename", "d"], ["rename", "d", "a"], ["rename", "d", "a", "b", "c"],
    ["delete"], ["delete", "d", "k", "x"], ["import"], ["export"], ["find"], ["find", "a", "b"], ["domains", "x"],
    ["explain", "d"],
    ["diff", "d"], ["doctor", "x"], ["write"], ["write", "d"], ["read", "d", "k", "x"], ["read", "--jsn", "d"],
    ["write", "d", "k", "-int"], ["watch", "d", "k", "x"],
  ])
  func usage(_ arguments: [String]) {
    #expect(throws: DefaultsFailure.self) { try DefaultsInvocation.parse(arguments) }
    do { _ = try DefaultsInvocation.parse(arguments) } catch { #expect(error.status == .usage, "\(error.text)") }
  }

  /// The parser takes the arguments that the manual describes.
  @Test(arguments: DefaultsVerb.allCases) func argumentsOfTheVerbs(verb: DefaultsVerb) throws {
    let required = verb.arguments.filter { !$0.hasSuffix("?") }
    // Only a dictionary can stand behind the domain alone.
    func words(_ names: [String]) -> [String] { names.map { $0 == "value" ? "{}" : "x" } }
    for names in [required, verb.arguments] {
      // One of them stands in the place of a value.
      _ = try DefaultsInvocation.parse([verb.rawValue] + words(names) + verb.options.filter { $0 != "--stdin" })
    }
    for option in ["--json", "--not-a-secret"] where !verb.options.contains(option) && verb != .write && verb != .help {
      #expect(throws: DefaultsFailure.self) { try DefaultsInvocation.parse([verb.rawValue, option] + words(required)) }
    }
    guard verb != .help else { return }
    #expect(throws: DefaultsFailure.self) { try DefaultsInvocation.parse([verb.rawValue] + words(verb.arguments) + ["x"]) }
    if !required.isEmpty {
      #expect(throws: DefaultsFailure.self) { try DefaultsInvocation.parse([verb.rawValue] + words(required).dropLast()) }
    }
  }

  @Test func optionsStandBehindTheVerbOrLast() throws {
    let wanted = DefaultsInvocation(.read(.named("d"), key: "k"), isJSON: true)
    #expect(try Self.parse("read", "--json", "d", "k") == wanted)
    #expect(try Self.parse("read", "d", "k", "--json") == wanted)
    #expect(try Self.parse("read", "--", "d", "--json") == DefaultsInvocation(.read(.named("d"), key: "--json")))
    #expect(try Self.parse("write", "--not-a-secret", "d", "k", "v").isNoSecret)
    #expect(try Self.parse("write", "d", "k", "--stdin").request == .write(.named("d"), key: "k", .setInput(type: nil)))
    #expect(
      try Self.parse("write", "--stdin", "d", "k", "-int").request == .write(.named("d"), key: "k", .setInput(type: "-int")))
    #expect(try Self.parse("write", "d", "k", "-date", "--stdin", "--not-a-secret").isNoSecret)
    #expect(try Self.parse("write", "d", "k", "v", "--not-a-secret").isNoSecret)
    let literal = try Self.parse("write", "--", "d", "k", "-string", "--not-a-secret")
    #expect(literal == DefaultsInvocation(.write(.named("d"), key: "k", .set(.string("--not-a-secret")))))
    #expect(try Self.parse("write", "d", "k", "--json").request == .write(.named("d"), key: "k", .set(.string("--json"))))
  }

  @Test func typedValues() throws {
    #expect(try Self.edit("-string", "-int") == .set(.string("-int")))
    #expect(try Self.edit("-data", "00fFa0") == .set(.data([0x00, 0xFF, 0xA0])))
    #expect(try Self.edit("-data", "") == .set(.data([])))
    #expect(try Self.edit("-int", "-5") == .set(.integer(-5)))
    #expect(try Self.edit("-integer", "18446744073709551615") == .set(.unsigned(.max)))
    #expect(try Self.edit("-float", "0.1") == .set(.real(0.1)))
    #expect(try Self.edit("-float", "3") == .set(.real(3)))
    #expect(try Self.edit("-bool", "YES") == .set(.boolean(true)))
    #expect(try Self.edit("-boolean", "false") == .set(.boolean(false)))
    #expect(try Self.edit("-date", "2001-01-01 00:00:00 +0000") == .set(.date(0)))
  }

  @Test(arguments: [
    ["-data", "abc"], ["-data", "zz"], ["-data", "é0"], ["-int", "5.5"], ["-int", "five"], ["-int", ""],
    ["-int", "18446744073709551616"],
    ["-float", "1,5"], ["-float", "1e999"], ["-bool", "1"], ["-bool", "maybe"], ["-date", "tomorrow"], ["-date", "11/12/26"],
    ["-integr", "5"], ["-foo"], ["-array", "a", "-bol", "x"], ["-dict", "a", "-int"],
  ])
  func valuesOfNoType(_ words: [String]) {
    do {
      let invocation = try DefaultsInvocation.parse(["write", "d", "k"] + words)
      Issue.record("\(invocation)")
    } catch { #expect(error.status == .usage, "\(error.text)") }
  }

  @Test func plainValues() throws {
    #expect(try Self.edit("a b") == .set(.string("a b")))
    #expect(try Self.edit("5") == .set(.string("5")))
    #expect(try Self.edit("-5") == .set(.string("-5")))
    #expect(try Self.edit("-") == .set(.string("-")))
    #expect(try Self.edit("") == .set(.string("")))
    #expect(try Self.edit(#"C:\new"#) == .set(.string(#"C:\new"#)))
    #expect(try Self.edit("(a, b)") == .set(.array([.string("a"), .string("b")])))
    #expect(try Self.edit("{a = 1;}") == .set(.dictionary(Self.dictionary(("a", .string("1"))))))
    #expect(try Self.edit("<0aff>") == .set(.data([0x0A, 0xFF])))
    #expect(try Self.edit(#""quoted""#) == .set(.string("quoted")))
    #expect(try Self.edit("<integer>-5</integer>") == .set(.integer(-5)))
    #expect(try Self.edit(" <dict><key>a</key><true/></dict> ") == .set(.dictionary(Self.dictionary(("a", .boolean(true))))))
    #expect(try Self.edit(#"<plist version="1.0"><real>1.5</real></plist>"#) == .set(.real(1.5)))
    for broken in ["hello (world)", "{", "[1]", "<", "a\"b", "<dict>"] {
      #expect(throws: DefaultsFailure.said("Could not parse the value.  Try single-quoting it.")) { try Self.edit(broken) }
    }
  }

  @Test func collections() throws {
    #expect(try Self.edit("-array") == .set(.array([])))
    #expect(
      try Self.edit("-array", "a", "-int", "1", "(x)") == .set(.array([.string("a"), .integer(1), .array([.string("x")])])))
    #expect(try Self.edit("-array-add", "a") == .append([.string("a")]))
    #expect(try Self.edit("-dict") == .set(.dictionary(Self.dictionary())))
    let entries = Self.dictionary(("a", .boolean(true)), ("b", .string("x")))
    #expect(try Self.edit("-dict", "a", "-bool", "yes", "-string", "b", "x") == .set(.dictionary(entries)))
    #expect(try Self.edit("-dict-add", "a", "-bool", "yes", "b", "x") == .merge(entries))
    #expect(throws: DefaultsFailure.said("Cannot nest composite types (arrays and dictionaries); exiting")) {
      try Self.edit("-array", "-dict", "a", "b")
    }
    #expect(throws: DefaultsFailure.said("Dictionary keys must be strings")) { try Self.edit("-dict", "-int", "5", "x") }
    #expect(throws: DefaultsFailure.said("Key b lacks a corresponding value")) { try Self.edit("-dict", "a", "x", "b") }
    #expect(throws: DefaultsFailure.said("Unexpected argument y; leaving defaults unchanged.")) { try Self.edit("x", "y") }
    #expect(throws: DefaultsFailure.said("Unexpected argument y; leaving defaults unchanged.")) {
      try Self.edit("-int", "5", "y")
    }
  }

  @Test func wholeDomains() throws {
    #expect(
      try Self.parse("write", "d", "{a = (1);}").request == .replace(.named("d"), Self.dictionary(("a", .array([.string("1")])))))
    for text in ["k", "(a)", "<00>"] {
      #expect(throws: DefaultsFailure.said("Rep argument is not a dictionary\nDefaults have not been changed.")) {
        try Self.parse("write", "d", text)
      }
    }
  }

  @Test func errorsDoNotRepeatValues() {
    for words in [["-int", "hunter2"], ["-data", "hunter2"], ["-bool", "hunter2"], ["-date", "hunter2"], ["(hunter2"]] {
      do {
        _ = try DefaultsInvocation.parse(["write", "d", "k"] + words)
        Issue.record("\(words)")
      } catch { #expect(!error.text.contains("hunter2")) }
    }
  }

  /// The content of a file or a name cannot control the terminal that shows it.
  @Test func messagesHaveNoControlCharacters() {
    let failure = DefaultsFailure.said("malformed: <\u{1B}[31m>\r\u{9B}2J\nDefaults have not been changed.")
    #expect(failure.text == #"malformed: <\u{1b}[31m>\u{d}\u{9b}2J"# + "\nDefaults have not been changed.")
  }
}
