import Coffer

@main struct Token {
  static func main() {
    do {
      switch try secret(of: "ada") {
      case nil: print("no token")
      case let token?: print("\(token.count) bytes")
      }
    } catch {
      print("no token: \(error)")
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
