import Coffer
import Glibc

/// A token that the apps of one team share, in one file that each of them is installed from.
///
///     shared-token add NAME [--own] [--bound]   keeps what standard input says; --own: in the app's own group, --bound: until it is removed
///     shared-token get NAME [GROUP]             writes it to standard output
///     shared-token list                         the names, with their groups
///     shared-token remove NAME
///
/// Who it is says the manifest that it was installed with; `$CREDENTIALS_DIRECTORY` has the key file of the vault that
/// `$SHARED_TOKEN_VAULT` names, the user's own where it is not set.
@main struct SharedToken {
  static let service = "shared-token"

  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      say("shared-token: \(error)")
      exit(1)
    }
  }

  static func run(_ words: [String]) throws {
    let vault = unsafe getenv("SHARED_TOKEN_VAULT").map { unsafe String(cString: $0) }
    let keychain = try Keychain.open(at: vault, as: .installed())
    switch (words.first, words.dropFirst().first) {
    case ("add", let name?): try add(name, Set(words.dropFirst(2)), to: keychain)
    case ("get", let name?):
      let group = try words.dropFirst(2).first.map { try AccessGroup($0) }
      let entry = try keychain.item(KeychainQuery(service: service, account: name, group: group))
      try write(keychain.secret(of: entry.reference))
    case ("list", nil):
      for entry in try keychain.items(KeychainQuery(service: service)) {
        print("\(entry.reference.group): \(entry.item["account"] ?? "")")
      }
    case ("remove", let name?):
      try keychain.remove(keychain.item(KeychainQuery(service: service, account: name)).reference)
    default:
      say("usage: shared-token add NAME [--own] [--bound] | get NAME [GROUP] | list | remove NAME")
      exit(2)
    }
  }

  static func add(_ name: String, _ flags: Set<String>, to keychain: Keychain) throws {
    // Straight from the descriptor into locked memory.
    let secret = try Secret(capacity: 4096) { span in
      let count = unsafe span.withUnsafeMutableBytes { unsafe read(STDIN_FILENO, $0.baseAddress, $0.count) }
      return max(0, count)
    }
    let own = try flags.contains("--own") ? keychain.ownGroup : nil
    try keychain.add(
      Item(service: service, account: name), secret: secret, group: own, installBound: flags.contains("--bound"))
  }

  static func say(_ line: String) {
    unsafe _ = Array("\(line)\n".utf8).withUnsafeBytes { unsafe Glibc.write(2, $0.baseAddress, $0.count) }
  }

  static func write(_ secret: borrowing Secret) {
    _ = secret.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
  }
}
