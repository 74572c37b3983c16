import CofferConsole
internal import CofferPreferences
internal import CofferPropertyLists

/// One run of `defaults`.
struct DefaultsSession {
  let store: DefaultsStore
  let isJSON: Bool
  let isNoSecret: Bool
  /// Opens the vault, by options.
  let vault: ([String]) throws -> any SecretDestination

  /// - Throws: `DefaultsFailure`, or what `DefaultsFailure.init(_:)` knows.
  func run(_ request: DefaultsInvocation.Request) throws {
    switch request {
    case .readAll: try readAll()
    case .read(let domain, nil): try read(domain)
    case .read(let domain, let key?): try read(domain, key)
    case .readType(let domain, let key): try readType(domain, key)
    case .write(let domain, let key, let edit): try write(domain, key, edit)
    case .replace(let domain, let values): try replace(domain, values)
    case .rename(let domain, let old, let new): try rename(domain, old, new)
    case .delete(let domain, nil): try delete(domain)
    case .delete(let domain, let key?): try delete(domain, key)
    case .importFile(let domain, let path): try importFile(domain, path)
    case .exportFile(let domain, let path): try exportFile(domain, path)
    case .domains: try listDomains()
    case .find(let word): try find(word)
    case .explain(let domain, let key): try explain(domain, key)
    case .watch(let domain, let key): try watch(domain, key)
    case .diff(let first, let second): try diff(first, second)
    case .doctor: try doctor()
    case .moveSecrets(let domain, let key, let options):
      try DefaultsDoctorMove(store.host, domain, key, to: vault(options)).run()
    case .hostIdentifier: try print(HostIdentifier.current)
    case .help: try Descriptor.output.write(DefaultsUsage.text)
    }
  }

  /// A line of standard output.
  func print(_ text: String) throws { try Descriptor.output.write(text + "\n") }
}
