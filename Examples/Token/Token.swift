import Coffer

@main struct Token {
  static func main() throws {
    switch try secret(of: "ada") {
    case nil: print("no token")
    case let token?: print("\(token.count) bytes")
    }
  }

  static func secret(of account: String) throws -> Secret? {
    let keychain = try Keychain.connect()
    do {
      let entry = try keychain.item(KeychainQuery(service: "api.example.com", account: account))
      return try keychain.secret(of: entry.reference, purpose: "to synchronise")
    } catch KeychainError.Code.locked, KeychainError.Code.agent {
      return nil
    }
  }
}
