/// Words in the names of secrets, and words in the names of things about a secret.
enum KeyWords {
  /// Any value under these names is a secret.
  private static let passwords: Set<String> = [
    "password", "passwords", "passwd", "pwd", "passphrase", "passcode", "passwort", "secret", "secrets",
    "mnemonic",
  ]
  /// Each value in a container with such a name is a secret.
  private static let plurals: Set<String> = ["passwords", "secrets"]
  /// Words that end a name written without capitals: `dbpassword`.
  private static let passwordEndings = ["password", "passwd", "passphrase", "passcode"]
  private static let passBefore: Set<String> = [
    "admin", "bind", "db", "ftp", "http", "imap", "ldap", "login", "mail", "mysql", "pg", "pop", "postgres", "proxy", "redis",
    "root",
    "smtp", "sudo", "user", "vpn", "wifi",
  ]
  /// A value that looks random is a secret under these names.
  private static let tokens: Set<String> = [
    "token", "tokens", "auth", "credential", "credentials", "bearer", "jwt", "apikey", "apikeys", "accesskey", "secretkey",
    "privatekey", "accesstoken", "authtoken", "refreshtoken", "apitoken", "clientsecret", "sessionkey", "signingkey",
    "authorization", "seed", "otp", "totp", "sessionid", "sessid", "phpsessid", "jsessionid",
  ]
  /// Words that precede `key`.
  private static let keys: Set<String> = [
    "access", "account", "admin", "api", "app", "application", "auth", "client", "decryption", "deploy", "encryption", "master",
    "private", "recovery", "secret", "service", "session", "shared", "signing", "ssh", "storage", "webhook", "write",
  ]
  /// Words that precede `phrase`.
  private static let phrases: Set<String> = ["backup", "mnemonic", "recovery", "secret", "seed"]
  /// Words before tokens that are not secrets: positions in a list, states of a synchronisation, addresses of a device, parts of
  /// a text or a design.
  private static let harmlessBefore: Set<String> = [
    "bookmark", "cancel", "cancellation", "change", "color", "colour", "continuation", "csrf", "cursor", "delta", "design",
    "device",
    "history", "next", "observer", "observation", "page", "public", "push", "registration", "resume", "separator", "string",
    "sync",
    "syntax", "theme", "undo", "view", "window",
  ]
  /// First words that are actions on a secret.
  private static let verbs: Set<String> = [
    "allow", "allows", "ask", "can", "copy", "count", "disable", "display", "enable", "forgot", "generate", "has", "have", "hide",
    "is",
    "max", "maximum", "min", "minimum", "need", "needs", "never", "num", "number", "remember", "require", "requires", "reset",
    "reveal", "should", "show", "shows", "skip", "total", "use", "uses", "validate", "was", "with", "without",
  ]
  /// Following words that are properties of a secret.
  private static let qualities: Set<String> = [
    "algorithm", "alphabet", "attempts", "available", "bucket", "budget", "buttons", "button", "cache", "cell", "changed",
    "charset",
    "checksum", "class", "cleared", "color", "colour", "command", "controller", "cost", "count", "created", "date", "days",
    "delegate", "delimiter", "digest", "directory", "disabled", "domain", "duration", "email", "enabled", "endpoint", "exists",
    "expiration", "expired", "expires", "expiry", "field", "file", "filename", "fingerprint", "folder", "font", "format",
    "generator",
    "group", "hash", "header", "help", "hidden", "hint", "host", "icon", "id", "identifier", "index", "interval", "issuer",
    "kind",
    "label", "language", "last", "length", "level", "lifetime", "limit", "list", "location", "manager", "max", "menu", "message",
    "method", "min", "mode", "model", "modified", "name", "names", "option", "options", "order", "page", "panel", "path",
    "period",
    "placeholder", "policy", "port", "position", "prefix", "price", "prompt", "prompts", "protocol", "provider", "quota", "rate",
    "realm", "reminder", "required", "rule", "rules", "saved", "scheme", "scope", "scopes", "section", "selected", "separator",
    "server", "service", "set", "sheet", "shortcut", "shown", "size", "source", "state", "status", "storage", "store", "strength",
    "style", "suffix", "symbol", "syntax", "tab", "time", "timeout", "timestamp", "title", "ttl", "type", "types", "updated",
    "uri",
    "url", "usage", "use", "used", "user", "username", "users", "valid", "validity", "version", "view", "visibility", "visible",
    "width", "window",
  ]
  /// Following words that tell which secret it is, or its encoding.
  private static let neutral: Set<String> = [
    "a", "b", "backup", "base", "bytes", "cleartext", "current", "data", "dev", "hex", "live", "main", "new", "old", "plain",
    "plaintext", "primary", "prod", "production", "raw", "secondary", "staging", "string", "test", "text", "v", "value",
  ]

  /// Whether one of the words can be in the name. This check ends the search for most names.
  static func mayName(_ name: borrowing Span<UInt8>) -> Bool {
    for index in 0..<name.count {
      switch name[index].lowercased {
      case UInt8(ascii: "p"):
        if name.holdsIgnoringCase("pass", at: index) || name.holdsIgnoringCase("phrase", at: index)
          || name.holdsIgnoringCase("pwd", at: index)
          || index == 0 && name.holdsIgnoringCase("pin", at: 0)
        {
          return true
        }
      case UInt8(ascii: "s"):
        if name.holdsIgnoringCase("secret", at: index) || name.holdsIgnoringCase("seed", at: index)
          || name.holdsIgnoringCase("sess", at: index)
        {
          return true
        }
      case UInt8(ascii: "t"): if name.holdsIgnoringCase("token", at: index) { return true }
      case UInt8(ascii: "k"): if name.holdsIgnoringCase("key", at: index) { return true }
      case UInt8(ascii: "a"): if name.holdsIgnoringCase("auth", at: index) { return true }
      case UInt8(ascii: "c"):
        if name.holdsIgnoringCase("credential", at: index) || name.holdsIgnoringCase("cookie", at: index) { return true }
      case UInt8(ascii: "b"): if name.holdsIgnoringCase("bearer", at: index) { return true }
      case UInt8(ascii: "j"): if name.holdsIgnoringCase("jwt", at: index) { return true }
      case UInt8(ascii: "o"): if name.holdsIgnoringCase("otp", at: index) { return true }
      case UInt8(ascii: "m"): if name.holdsIgnoringCase("mnemonic", at: index) { return true }
      default: break
      }
    }
    return false
  }

  static func promise(of words: [String]) -> KeyName.Promise {
    guard let head = words.indices.last(where: { isSecret(words, at: $0) }) else {
      if words == ["pass"] { return .random }
      return words == ["pin"] || words == ["pin", "code"] || words == ["pincode"] ? .anything : .nothing
    }
    let behind = words[(head + 1)...]
    guard !verbs.contains(words[0]) || head == 0, behind.allSatisfy({ !qualities.contains($0) }) else { return .nothing }
    // `api.password.smtp` is the password for SMTP.
    let isLast = behind.allSatisfy {
      neutral.contains($0) || passBefore.contains($0) || $0.utf8.allSatisfy(Alphabet.digits.contains)
    }
    if isPassword(words, at: head) { return isLast ? .anything : .random }
    let first = isSessionIdentifier(words, at: head) ? head - 1 : head
    if first > 0, harmlessBefore.contains(words[first - 1]) { return .nothing }
    return .random
  }

  /// Whether the words after a secret's name make it the name of a property.
  static func saysWhatItIs(_ words: [String]) -> Bool {
    guard let head = words.indices.first(where: { isSecret(words, at: $0) }) else { return false }
    return words[(head + 1)...].contains { qualities.contains($0) } || verbs.contains(words[words.count - 1])
  }

  static func isOfMany(_ words: [String]) -> Bool { words.last.map(plurals.contains) ?? false }

  private static func isSecret(_ words: [String], at index: Int) -> Bool {
    let word = words[index]
    if tokens.contains(word) || isPassword(words, at: index) { return true }
    guard index > 0 else { return false }
    return ["key", "keys"].contains(word) && keys.contains(words[index - 1]) || word == "cookie" && words[index - 1] == "session"
      || word == "phrase" && phrases.contains(words[index - 1])
      || isSessionIdentifier(words, at: index)
  }

  /// A session identifier authenticates its holder.
  private static func isSessionIdentifier(_ words: [String], at index: Int) -> Bool {
    index > 0 && words[index] == "id" && words[index - 1] == "session"
  }

  private static func isPassword(_ words: [String], at index: Int) -> Bool {
    let word = words[index]
    if word == "phrase", index > 0, phrases.contains(words[index - 1]) { return true }
    if passwords.contains(word) || passwordEndings.contains(where: word.hasSuffix) { return true }
    return word == "pass" && index > 0 && passBefore.contains(words[index - 1])
  }
}
