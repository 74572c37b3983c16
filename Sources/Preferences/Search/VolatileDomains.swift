public import PropertyLists
internal import Synchronization

/// The domains of a process that are in no file. All search lists of the process end with the same registered values and start with
/// the same arguments.
///
/// Thread-safe.
public final class VolatileDomains: Sendable {
  /// `NSArgumentDomain`
  public static let argumentName = "NSArgumentDomain"
  /// `NSRegistrationDomain`
  public static let registrationName = "NSRegistrationDomain"

  /// From the command line.
  public let argument: VolatileDomain
  /// The languages of the user, in the global domain below what is stored there. Nil where no environment is known.
  let environment: VolatileDomain?
  /// The values that the program registers at each start. Last in every list.
  public let registration = VolatileDomain()
  /// Under names of the program's own; in no search list.
  private let others = Mutex<[PropertyListDictionary.Key: VolatileDomain]>([:])

  /// - Parameters:
  ///   - arguments: As the process has got them, its name first.
  ///   - environment: The value of a variable. Nil where the languages of the user are not asked for.
  public init(arguments: [String], environment: ((String) -> String?)? = nil) {
    self.environment = environment.map { VolatileDomain(EnvironmentLocale.values($0)) }
    argument = VolatileDomain(ArgumentDomain.parse(arguments.dropFirst()))
  }

  /// In byte order.
  public var names: [String] {
    let others = others.withLock { $0.keys.map(\.name) }
    return (others + [Self.argumentName, Self.registrationName]).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  public subscript(name: String) -> VolatileDomain? {
    switch PropertyListDictionary.Key(name) {
    case .init(Self.argumentName): argument
    case .init(Self.registrationName): registration
    case let key: others.withLock { $0[key] }
    }
  }

  /// Replaces what the domain held.
  public func set(_ values: PropertyListDictionary, forName name: String) {
    let domain =
      self[name]
      ?? others.withLock { others in
        let domain = others[.init(name)] ?? VolatileDomain()
        others[.init(name)] = domain
        return domain
      }
    domain.replaceAll(with: values)
  }

  /// The arguments and the registered values stay as domains, without a value.
  public func remove(_ name: String) {
    set(PropertyListDictionary(), forName: name)
    _ = others.withLock { $0.removeValue(forKey: .init(name)) }
  }
}
