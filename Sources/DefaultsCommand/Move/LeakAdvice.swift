import CofferConsole
internal import CofferPreferences
internal import LeakDetection

/// Where in the vault a value of a domain belongs: SERVICE is the domain (`EditableDomain.service`), ACCOUNT the path of the
/// value (`Finding.path`).
enum LeakAdvice {
  /// The shell command that stores the secret, which is asked for. For any name of the domain and the key, the
  /// shell and `coffer` parse it to the name of `MoveCandidate`.
  static func command(_ service: String, _ path: String) -> String {
    let (service, account) = (nameable(service), nameable(path))
    let plain = "\(service)/\(account)"
    // A name that would not be parsed as a service, a slash and an account.
    guard !service.utf8.contains(UInt8(ascii: "/")), !service.isEmpty, !plain.hasPrefix("coffer://"), !plain.hasPrefix("-") else {
      return ["coffer secret set", option("--service", service), option("--account", account)].joined(separator: " ")
    }
    return "coffer secret set \(quoted(plain))"
  }

  /// Behind an equals sign also a value that starts with a dash is a value.
  private static func option(_ name: String, _ value: String) -> String {
    value.hasPrefix("-") ? quoted("\(name)=\(value)") : "\(name) \(quoted(value))"
  }

  /// Keys may hold what names may not: line ends, other controls, marks that turn the direction of text. These, the backslash,
  /// which messages double, and then also the percent sign, become the %XX of URIs.
  static func nameable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      if isUnsafe(scalar) || scalar == "%" {
        for byte in String(scalar).utf8 { result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool { scalar.isControl || scalar == "\\" }

  /// One word for a POSIX shell. An apostrophe goes between double quotes: a backslash would not survive a message.
  private static func quoted(_ word: String) -> String {
    guard !word.utf8.allSatisfy(isPlain) || word.isEmpty else { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'"'"'"#) + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "-._/:@%+,=".utf8.contains(byte)
    }
  }
}

extension EditableDomain {
  /// The service of the domain in the vault: the name of its file, so that values for this host and for all hosts are two
  /// services. A file that was named by its path has the path.
  var service: String {
    guard !name.hasPrefix("/"), let stored = self as? StoredDomain else { return name }
    let file = stored.domain.name.fileName
    let global = DomainName.global
    return file.hasPrefix(global.fileName) ? global.name + file.dropFirst(global.fileName.count) : file
  }
}
