/// Secrets among the arguments of programs, as in a command history or a command setting.
enum SecretArgument {
  /// The forms in which programs take a password.
  private enum Form {
    /// `-pVALUE`
    case attached
    /// `-p VALUE`; if `after` is not empty, it must be among the preceding words.
    case separate(after: StaticString)
    /// `-u USER:VALUE`, with this separator.
    case behind(StaticString)
    /// `-pass pass:VALUE`
    case marked(StaticString)
  }

  private struct Option {
    let program: StaticString
    let option: StaticString
    let form: Form

    init(_ program: StaticString, _ option: StaticString, _ form: Form) {
      self.program = program
      self.option = option
      self.form = form
    }
  }

  /// From the manuals of the programs.
  private static let options: [Option] = [
    .init("curl", "-u", .behind(":")), .init("curl", "--user", .behind(":")), .init("curl", "-U", .behind(":")),
    .init("curl", "--proxy-user", .behind(":")), .init("http", "-a", .behind(":")), .init("smbclient", "-U", .behind("%")),
    .init("mysql", "-p", .attached), .init("mysqldump", "-p", .attached), .init("mysqladmin", "-p", .attached),
    .init("mariadb", "-p", .attached), .init("mariadb-dump", "-p", .attached), .init("7z", "-p", .attached),
    .init("sshpass", "-p", .separate(after: "")), .init("sshpass", "-p", .attached),
    .init("docker", "-p", .separate(after: "login")), .init("podman", "-p", .separate(after: "login")),
    .init("helm", "-p", .separate(after: "login")), .init("oc", "-p", .separate(after: "login")),
    .init("redis-cli", "-a", .separate(after: "")), .init("mongosh", "-p", .separate(after: "")),
    .init("mongodump", "-p", .separate(after: "")), .init("ldapsearch", "-w", .separate(after: "")),
    .init("ldapmodify", "-w", .separate(after: "")), .init("zip", "-P", .separate(after: "")),
    .init("unzip", "-P", .separate(after: "")), .init("openssl", "-k", .separate(after: "")),
    .init("openssl", "-pass", .marked("pass:")), .init("openssl", "-passin", .marked("pass:")),
    .init("openssl", "-passout", .marked("pass:")),
  ]

  static func isInCommand(_ text: borrowing Span<UInt8>) -> Bool {
    var words = Words()
    var program = 0..<0
    var before: [Range<Int>] = []
    var option: Range<Int>?
    while let word = words.next(in: text) {
      defer { option = word }
      if word.lowerBound > 0, endsCommand(text, option, word) || program.isEmpty { program = name(of: word, in: text) }
      if program.isEmpty { program = name(of: word, in: text) }
      if isSecret(text, word, option, program, before) { return true }
      before.append(word)
      if before.count > longestCommand { before.removeFirst() }
    }
    return false
  }

  private static let longestCommand = 8

  /// Whether `word` begins a new command.
  private static func endsCommand(_ text: borrowing Span<UInt8>, _ previous: Range<Int>?, _ word: Range<Int>) -> Bool {
    guard let previous else { return true }
    for index in previous.upperBound..<word.lowerBound where text[index] == 0x0A { return true }
    for sign: StaticString in ["|", "||", "&&", ";", "&"] where text.isWord(sign, previous) { return true }
    return text[previous.upperBound - 1] == UInt8(ascii: ";")
  }

  /// The last component of a path.
  private static func name(of word: Range<Int>, in text: borrowing Span<UInt8>) -> Range<Int> {
    var start = word.upperBound
    while start > word.lowerBound, text[start - 1] != UInt8(ascii: "/") { start -= 1 }
    let name = start..<word.upperBound
    // sudo(8) and env(1) start another program, and variable assignments precede it.
    let isBefore = text.isWord("sudo", name) || text.isWord("env", name) || text.isWord("$", name)
    if isBefore { return 0..<0 }
    for index in name where text[index] == UInt8(ascii: "=") { return 0..<0 }
    return name
  }

  private static func isSecret(
    _ text: borrowing Span<UInt8>, _ word: Range<Int>, _ previous: Range<Int>?, _ program: Range<Int>, _ before: [Range<Int>]
  ) -> Bool {
    if let previous, isLongOption(text, previous), isValue(text, word), !text.extracting(word).isPlainWord {
      let name = KeyName(text.text(previous.lowerBound + 2..<previous.upperBound))
      if SecretUnderName.matches(name, .text, text.extracting(unquoted(text, word))) { return true }
    }
    for option in options where text.isWord(option.program, program) {
      switch option.form {
      case .attached:
        let length = option.option.utf8CodeUnitCount
        guard text.holds(option.option, at: word.lowerBound), word.count >= length + 4 else { continue }
        if isValue(text, word.lowerBound + length..<word.upperBound) { return true }
      case .separate(let after):
        guard let previous, text.isWord(option.option, previous), isValue(text, word) else { continue }
        if after.utf8CodeUnitCount == 0 || before.contains(where: { text.isWord(after, $0) }) { return true }
      case .behind(let sign):
        guard let previous, text.isWord(option.option, previous) else { continue }
        let pair = unquoted(text, word)
        guard let mark = text.extracting(pair).position(of: sign), mark > 0 else { continue }
        if isValue(text, pair.lowerBound + mark + 1..<pair.upperBound) { return true }
      case .marked(let mark):
        guard let previous, text.isWord(option.option, previous), text.holds(mark, at: word.lowerBound) else { continue }
        if isValue(text, word.lowerBound + mark.utf8CodeUnitCount..<word.upperBound) { return true }
      }
    }
    return false
  }

  private static func isLongOption(_ text: borrowing Span<UInt8>, _ word: Range<Int>) -> Bool {
    word.count > 4 && text.holds("--", at: word.lowerBound) && text.extracting(word).position(of: "=") == nil
  }

  private static func isValue(_ text: borrowing Span<UInt8>, _ word: Range<Int>) -> Bool {
    let value = unquoted(text, word)
    guard value.count >= 4, text[value.lowerBound] != UInt8(ascii: "-"), text[value.lowerBound] != UInt8(ascii: "$") else {
      return false
    }
    return !Placeholder.matches(text.extracting(value))
  }

  private static func unquoted(_ text: borrowing Span<UInt8>, _ word: Range<Int>) -> Range<Int> {
    var range = word
    while range.count > 0, isQuote(text[range.lowerBound]) { range = range.lowerBound + 1..<range.upperBound }
    while range.count > 0, isQuote(text[range.upperBound - 1]) { range = range.lowerBound..<range.upperBound - 1 }
    return range
  }

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
}
