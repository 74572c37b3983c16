import DefaultsCommand
import Foundation
import Testing

/// The manual against what the program says of itself.
@Suite struct ManualTests {
  struct Help: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String
    }
    struct Argument: Decodable {
      let kind: String
      let names: [Name]?
      let valueName: String?
      let allValues: [String]?
      let allValueStrings: [String]?

      init(operand: String) {
        kind = "positional"
        names = nil
        valueName = operand
        allValues = nil
        allValueStrings = nil
      }

      init(flag: String) {
        kind = "flag"
        names = [Name(kind: "long", name: String(flag.dropFirst(2)))]
        valueName = nil
        allValues = nil
        allValueStrings = nil
      }

      var long: String? { names?.first { $0.kind == "long" }?.name }
      /// As the manual writes it.
      var written: String {
        switch kind {
        case "flag": "--\(long ?? "?")"
        case "option": "--\(long ?? "?") \(valueName ?? "?")"
        default: valueName ?? "?"
        }
      }
    }
    struct Command: Decodable {
      let commandName: String
      let arguments: [Argument]?
      let subcommands: [Command]?
      /// Not so for what coffer starts itself.
      let shouldDisplay: Bool
    }
    let command: Command
  }

  /// `--help` and `--version` are everybody's.
  static let everywhere = ["--help", "--version"]
  static let pages = Document.manual.filter { $0.path.hasSuffix(".1") }
  static let mainPage = Document("docs/man/coffer.1")

  /// The commands that do something, by their names, with all that may follow.
  static func commands() throws -> [String: [Help.Argument]] {
    func help(_ program: String) throws -> Help {
      let result = try Home().run("\(program) --experimental-dump-help")
      return try JSONDecoder().decode(Help.self, from: Data(result.output.utf8))
    }
    var commands: [String: [Help.Argument]] = [:]
    func visit(_ command: Help.Command, _ path: [String]) {
      let path = path + [command.commandName]
      // The parser gives every root a command "help", also one that has no others.
      let children = (command.subcommands ?? []).filter {
        $0.shouldDisplay && ($0.commandName != "help" || path.first == "coffer")
      }
      for child in children { visit(child, path) }
      if children.isEmpty {
        commands[path.joined(separator: " ")] = (command.arguments ?? []).filter { !everywhere.contains($0.written) }
      }
    }
    for program in ["coffer", "cofferd"] { visit(try help(program).command, []) }
    // `coffer` starts a program of its own for it, which has the verbs.
    commands["coffer sync"] = nil
    visit(try help("coffer sync").command, [])
    // It has a grammar that the parser of the others does not know.
    commands["coffer defaults"] = nil
    for verb in DefaultsVerb.allCases {
      var operands = verb.arguments
      var options = (verb.options).map { Help.Argument(flag: $0) }
      if verb == .doctor {
        operands += DefaultsVerb.moveArguments
        options += (["--move"] + DefaultsVerb.moveOptions).map { Help.Argument(flag: $0) }
        options += (commands["coffer vault verify"] ?? []).filter { shared.contains($0.written) }
      }
      commands["coffer defaults \(verb.rawValue)"] =
        operands.map { Help.Argument(operand: $0.replacing("?", with: "")) } + options
    }
    return commands
  }

  /// The verbs that work without their noun, as coffer(1) names them.
  static var shortForms: [String] {
    let line = mainPage.lines.first { $0.hasPrefix(".It Ic set ,") } ?? ""
    return line.dropFirst(".It Ic ".count).replacing(" ,", with: "").split(separator: " ").map(String.init)
  }

  /// The options that `.Sh VAULT OPTIONS` of coffer(1) lists.
  static var shared: Set<String> {
    let section = mainPage.lines.drop { $0 != ".Sh VAULT OPTIONS" }.dropFirst().prefix { !$0.hasPrefix(".Sh") }
    return Set(section.compactMap(described))
  }

  /// `--name value` of a line that describes an option.
  private static func described(_ line: String) -> String? {
    line.hasPrefix(".It Fl Fl ") ? "--" + line.dropFirst(".It Fl Fl ".count).replacing(" Ar ", with: " ") : nil
  }

  /// The commands of the synopsis, with what may follow them.
  static func synopsis(_ page: Document) -> [String: Set<String>] {
    var found: [String: Set<String>] = [:]
    var command = ""
    let section = page.lines.drop { $0 != ".Sh SYNOPSIS" }.dropFirst().prefix { !$0.hasPrefix(".Sh") }
    for line in section {
      var rest = line
      if line.hasPrefix(".Nm ") {
        let words = line.split(separator: " ").dropFirst()
        let name = words.prefix { $0.first?.isLowercase == true || $0.first?.isNumber == true }
        command = name.joined(separator: " ")
        found[command] = []
        rest = "." + words.dropFirst(name.count).joined(separator: " ")
      }
      rest = rest.replacing(".Op ", with: ".").replacing("Op ", with: "")
      if rest == ".Ar vault-options" {
        found[command]?.formUnion(shared)
      } else if rest.hasPrefix(".Fl Fl ") {
        found[command]?.insert("--" + rest.dropFirst(".Fl Fl ".count).replacing(" Ar ", with: " "))
      } else if rest.hasPrefix(".Ar ") {
        found[command]?.insert(String(rest.dropFirst(4)))
      }
    }
    return found
  }

  @Test func synopsesAreWhatTheProgramTakes() throws {
    var commands = try Self.commands()
    var documented: [String: Set<String>] = [:]
    for page in Self.pages { documented.merge(Self.synopsis(page)) { first, _ in first } }
    for verb in Self.shortForms {
      let short = try #require(commands["coffer \(verb)"])
      commands["coffer \(verb)"] = nil
      let long = try #require(commands["coffer secret \(verb)"] ?? commands["coffer vault \(verb)"])
      #expect(short.map(\.written) == long.map(\.written), "\(verb)")
    }
    // The first page names the nouns and the option of the program itself.
    for overview in [
      "coffer vault", "coffer secret", "coffer defaults", "coffer app", "coffer access", "coffer agent", "coffer group",
      "coffer import", "coffer export", "coffer credential", "coffer ssh", "coffer bus", "coffer service", "coffer sync",
      "coffer",
    ] {
      #expect(documented.removeValue(forKey: overview) != nil, "\(overview)")
    }
    #expect(Set(documented.keys) == Set(commands.keys))
    for (name, arguments) in commands {
      #expect(documented[name] == Set(arguments.map(\.written)), "\(name)")
    }
  }

  @Test func everyOptionIsDescribed() throws {
    let commands = try Self.commands()
    for page in Self.pages {
      let described = Set(page.lines.compactMap(Self.described))
      let used = Self.synopsis(page).keys.flatMap { commands[$0] ?? [] }.map(\.written).filter { $0.hasPrefix("--") }
      #expect(Set(used).isSubset(of: described.union(Self.shared)), "\(page)")
      let own = page.path == Self.mainPage.path ? Self.shared.union(used + ["--version"]) : Set(used)
      #expect(described.isSubset(of: own), "\(page) describes \(described.subtracting(own))")
    }
    #expect(Self.mainPage.lines.contains(".It Fl h , Fl Fl help"))
  }

  @Test func everyValueIsNamed() throws {
    for page in Self.pages {
      for name in Self.synopsis(page).keys {
        for argument in try Self.commands()[name] ?? [] {
          for value in argument.allValues ?? argument.allValueStrings ?? [] {
            #expect(page.text.contains("Cm \(value)"), "\(page): \(argument.written): \(value)")
          }
        }
      }
    }
  }

  @Test func otherNamesLeadToPagesThatNameThem() throws {
    let names = Document.all(in: "docs/man", ".1").filter { $0.otherPage != nil }
    #expect(names.map(\.path) == ["docs/man/cofferd.1"])
    for name in names {
      let page = Document("docs/man/" + (name.otherPage ?? "").replacing("man1/", with: ""))
      let written = name.path.split(separator: "/").last?.dropLast(".1".count) ?? ""
      #expect(page.lines.prefix { $0 != ".Sh SYNOPSIS" }.contains(".Nm \(written)"), "\(name)")
    }
  }

  @Test(arguments: Document.manual) func pagesAreSound(page: Document) throws {
    let path = Document.root.appending(path: page.path).path
    let home = try Home()
    // A finding about pages of other packages depends on which of them are installed.
    let lint = try home.run("mandoc -T lint -W style '\(path)' 2>&1 | grep -v 'outdated mandoc.db\\|referenced manual not found'")
    #expect(lint.output == "")
    let man = try home.run("MANWIDTH=80 man --warnings -l -Tutf8 '\(path)' >/dev/null")
    #expect(man.output == "" && man.status == 0)
  }
}
