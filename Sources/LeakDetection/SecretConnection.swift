/// Secrets in the formats of single services that are neither URLs nor lists of names.
enum SecretConnection {
  /// The keywords of libpq's connection strings beside which `password=` is recognised (PostgreSQL manual, 34.1.2).
  private static let libpq: [StaticString] = [
    "host", "hostaddr", "port", "dbname", "user", "sslmode", "passfile", "connect_timeout", "application_name", "service",
    "options",
  ]

  static func isLibpq(_ text: borrowing Span<UInt8>) -> Bool {
    var words = Words()
    while let word = words.next(in: text) {
      let end = text.end(of: .nameInText, from: word.lowerBound)
      guard text.holds("=", at: end) else { continue }
      if libpq.contains(where: { text.isWord($0, word.lowerBound..<end) }) { return true }
    }
    return false
  }

  /// `jdbc:oracle:thin:USER/PASSWORD@PLACE`
  static func isOracleJDBC(_ text: borrowing Span<UInt8>) -> Bool {
    guard let start = text.position(of: "jdbc:oracle:"), let at = text.position(of: "@", from: start, limit: 200) else {
      return false
    }
    var slash = start
    while slash < at, text[slash] != UInt8(ascii: "/") { slash += 1 }
    return slash + 1 < at && !Placeholder.isBlank(text.extracting(slash + 1..<at))
  }

  /// `HOST:PORT:DATABASE:USER:PASSWORD`, a line of ~/.pgpass.
  static func isPgpass(_ text: borrowing Span<UInt8>) -> Bool {
    var lines = Words()
    while let line = lines.next(in: text) {
      var colons: [Int] = []
      for index in line where text[index] == UInt8(ascii: ":") { colons.append(index) }
      guard colons.count == 4, colons[0] > line.lowerBound, text.end(of: .host, from: line.lowerBound) == colons[0] else {
        continue
      }
      let port = colons[0] + 1..<colons[1]
      let isPort = port.count >= 2 && port.count <= 5 && text.end(of: .digits, from: port.lowerBound) == port.upperBound
      guard isPort || text.isWord("*", port), colons[2] > colons[1] + 1, colons[3] > colons[2] + 1 else { continue }
      let password = text.extracting(colons[3] + 1..<line.upperBound)
      if password.count >= 4, !Placeholder.matches(password), password.end(of: .digits, from: 0) < password.count { return true }
    }
    return false
  }

  /// A client secret of Azure: three characters, a digit, `Q~` and 31 to 34 characters.
  static func isAzureClientSecret(_ text: borrowing Span<UInt8>) -> Bool {
    var from = 0
    while let mark = text.position(of: "Q~", from: from) {
      from = mark + 2
      guard mark >= 4, Alphabet.digits.contains(text[mark - 1]) else { continue }
      let start = mark - 4
      var isRun = start == 0 || !Alphabet.alphanumeric.contains(text[start - 1])
      for index in start..<mark where !Alphabet.token68.contains(text[index]) { isRun = false }
      if isRun, (31...34).contains(text.end(of: .azureSecret, from: from, limit: 34) - from) { return true }
    }
    return false
  }
}
