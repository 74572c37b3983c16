import ArgumentParser
package import CofferConsole

/// Facts about the words of a command line that are needed before the argument parser runs, or after it has failed.
enum CommandWords {
  /// The parser takes `-hello` for the flags `-h -e -l -l -o`, and prints the help.
  /// - Throws: usage, for a word of that form: no option of `coffer` has one.
  static func check(_ arguments: ArraySlice<String>) throws(Failure) {
    // It has a grammar of its own.
    guard arguments.first != "defaults" else { return }
    for word in arguments.prefix(while: { $0 != "--" }) where word.utf8.first == UInt8(ascii: "-") {
      guard Int(word) != nil || word.utf8.count > 2, !word.hasPrefix("--") else { continue }
      throw .usage(
        "arguments: unknown option '\(word)'",
        hint: word == "-help"
          ? "coffer --help"
          : "a word that begins with - and is not an option stands after --; as the value of an option: --name=\(word)")
    }
  }

  /// `secret help get` as the parser understands it: `help secret get`. Returns nil for anything else.
  static func help(in arguments: ArraySlice<String>) -> [String]? {
    var type: any ParsableCommand.Type = Coffer.self
    for (index, word) in zip(arguments.indices, arguments) {
      if word == "help", index > arguments.startIndex, !type.configuration.subcommands.isEmpty {
        return ["help"] + arguments[..<index] + arguments[(index + 1)...]
      }
      guard let next = type.configuration.subcommands.first(where: { $0.names.contains(word) }) else { return nil }
      type = next
    }
    return nil
  }

  /// The first word that stands in the place of a noun or a verb, and is none. Nil if there is no such word.
  static func unknown(in arguments: ArraySlice<String>) -> Failure? {
    var type: any ParsableCommand.Type = Coffer.self
    var path = "coffer"
    for word in arguments {
      let commands = type.configuration.subcommands
      guard !commands.isEmpty, word != "help", word.utf8.first != UInt8(ascii: "-") else { return nil }
      guard let next = commands.first(where: { $0.names.contains(word) }) else {
        let nearest = Self.nearest(to: word, after: path, among: commands)
        return .usage(
          "no such \(path == "coffer" ? "command" : "verb"): \(word)",
          hint: nearest.isEmpty ? "\(path) --help" : nearest.joined(separator: ", "))
      }
      type = next
      path += " \(word)"
    }
    return nil
  }

  /// Words that other programs use for one thing.
  private static let alike: [Set<String>] = [
    ["move", "mv", "rename"], ["get", "show", "read", "cat", "print"], ["remove", "rm", "delete", "del", "erase", "uninstall"],
    ["get", "set", "cp", "copy"], ["set", "add", "create", "insert", "new", "put", "save", "store", "write"],
    ["init", "create", "make", "new"],
    ["unlock", "open"], ["lock", "close"], ["list", "ls", "dir"], ["find", "grep", "search"],
    ["verify", "lint", "check", "test"],
    ["status", "info", "show", "state"], ["stop", "end", "exit", "kill", "quit"], ["passphrase", "passwd", "password"],
    ["install", "upgrade", "update"], ["run", "exec", "start"], ["grant", "allow"], ["revoke", "deny"],
  ]

  /// Those that mean the same; else those of this name after another noun, which was left out or mistaken; else those that are
  /// spelt nearly the same.
  private static func nearest(to word: String, after path: String, among commands: [any ParsableCommand.Type]) -> [String] {
    let word = word.lowercased()
    let groups = alike.filter { $0.contains(word) }
    let same = commands.filter { command in groups.contains { !$0.isDisjoint(with: command.names) } }
    guard same.isEmpty else { return same.map { "\(path) \($0.name)" } }
    let elsewhere = Coffer.configuration.subcommands.flatMap { noun in
      noun.configuration.subcommands.filter { $0.names.contains(word) }.map { "coffer \(noun.name) \($0.name)" }
    }
    guard elsewhere.isEmpty else { return elsewhere }
    let distances = commands.map { $0.names.map { distance(word, $0) }.min() ?? .max }
    guard let least = distances.min(), least <= min(2, (word.count + 1) / 2) else { return [] }
    return zip(commands, distances).filter { $0.1 == least }.map { "\(path) \($0.0.name)" }
  }

  /// How many letters have to be changed, added, left out or exchanged with the next one.
  private static func distance(_ first: String, _ second: String) -> Int {
    let (first, second) = (Array(first.utf8.prefix(64)), Array(second.utf8))
    var rows = [Array(0...second.count)]
    for (index, letter) in first.enumerated() {
      var row = [index + 1]
      for column in second.indices {
        let changed = rows[index][column] + (letter == second[column] ? 0 : 1)
        row.append(min(changed, rows[index][column + 1] + 1, row[column] + 1))
        if index > 0, column > 0, letter == second[column - 1], first[index - 1] == second[column] {
          row[column + 1] = min(row[column + 1], rows[index - 1][column - 1] + 1)
        }
      }
      rows.append(row)
    }
    return rows[first.count][second.count]
  }

  private static func isShortForm(_ word: String) -> Bool { Coffer.shortForms.contains { $0.names.contains(word) } }

  /// Whether a program is to be started whose exit status is that of the command: then a failure has a status that few programs have.
  static func isOfProgram(_ arguments: ArraySlice<String>) -> Bool { arguments.first == RunCommand.configuration.commandName }

  /// The words before `--`. Nil if the noun does not take options about a vault.
  private static func wordsAboutVault(_ arguments: ArraySlice<String>) -> [String]? {
    let nouns = ["vault", "secret", "agent", "import", "credential", "ssh", "init", "run", "inject", "sweep"]
    guard let noun = arguments.first, nouns.contains(noun) || isShortForm(noun) else { return nil }
    return Array(arguments.prefix { $0 != "--" })
  }

  static func namesSystem(in arguments: ArraySlice<String>) -> Bool {
    wordsAboutVault(arguments)?.contains("--system") == true
  }

  /// The file that `--vault` names. Nil if none is named, or the noun does not take it.
  static func vault(in arguments: ArraySlice<String>) -> String? {
    guard let words = wordsAboutVault(arguments) else { return nil }
    guard let index = words.lastIndex(where: { $0 == "--vault" || $0.hasPrefix("--vault=") }) else { return nil }
    guard words[index] == "--vault" else { return String(words[index].dropFirst("--vault=".count)) }
    return words.indices.contains(index + 1) ? words[index + 1] : nil
  }
}

extension ParsableCommand {
  fileprivate static var name: String { configuration.commandName ?? _commandName }
  fileprivate static var names: [String] { [name] + configuration.aliases }
}

extension Failure {
  /// With a hint whose commands concern the same vault.
  func naming(vault path: String?) -> Failure {
    guard let path, let hint, !hint.hasSuffix("--help") else { return self }
    return Failure(status, message, hint: Self.hint(hint, naming: path), details: details)
  }

  /// With a hint whose commands concern the vault of the system's agent.
  package func naming(system isSystem: Bool) -> Failure {
    guard isSystem, let hint, !hint.hasSuffix("--help"), !hint.hasPrefix("as root") else { return self }
    return Failure(status, message, hint: Self.hint(hint, with: "--system"), details: details)
  }

  /// Returns nil if no quotes can hold the path.
  static func hint(_ hint: String, naming path: String) -> String? { word(path).map { Self.hint(hint, with: "--vault \($0)") } }

  private static func hint(_ hint: String, with option: String) -> String {
    let command =
      /coffer (?:(?:vault slot|vault(?! slot)|secret|agent) [a-z][a-z-]*|init|set|get|list|unlock|lock)(?![a-z-]|[^;:]* --vault| --system)/
    return hint.replacing(command) { "\($0.output) \(option)" }
  }

  /// As a shell reads it. Nil for a path that no quotes can hold, or that is escaped when it is printed.
  private static func word(_ path: String) -> String? {
    if path.isPlainWord { return path }
    guard path == path.escapingControls() else { return nil }
    if !path.contains("'") { return "'\(path)'" }
    return path.contains(/["$`]/) ? nil : "\"\(path)\""
  }
}

extension String {
  /// Whether a shell reads it as one word that stands for itself.
  var isPlainWord: Bool {
    !isEmpty && self == escapingControls() && !unicodeScalars.contains(where: \.properties.isWhitespace)
      && utf8.allSatisfy { byte in
        byte >= 0x80 || "/._-+,:@%=".utf8.contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
  }
}
