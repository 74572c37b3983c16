public import CofferPropertyLists
internal import Synchronization

/// The domains of a process that are not in files. All search lists of the process share them: the arguments near the beginning,
/// the registered values at the end.
///
/// Thread-safe.
public final class VolatileDomains: Sendable {
  /// `NSArgumentDomain`
  public static let argumentName = "NSArgumentDomain"
  /// `NSRegistrationDomain`
  public static let registrationName = "NSRegistrationDomain"

  /// Parsed from the command line.
  public let argument: VolatileDomain
  /// The languages of the user, in the global domain after the stored values. nil if there is no environment.
  let environment: VolatileDomain?
  /// The values that the program registers at each start; last in every list.
  public let registration = VolatileDomain()
  /// Domains under other names, which are in no search list.
  private let others = Mutex<[PropertyListDictionary.Key: VolatileDomain]>([:])

  /// - Parameters:
  ///   - arguments: The arguments of the process, starting with its name.
  ///   - environment: The value of a variable. nil if the languages of the user are not needed.
  public init(arguments: [String], environment: ((String) -> String?)? = nil) {
    self.environment = environment.map { VolatileDomain(EnvironmentLocale.values($0)) }
    argument = VolatileDomain(ArgumentDomain.parse(arguments.dropFirst()))
  }

  /// In byte order.
  public var names: [String] {
    let others = others.withLock { $0.keys.map(\.name) }
    return (others + [Self.argumentName, Self.registrationName]).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// The domain of a name; nil if there is none.
  public subscript(name: String) -> VolatileDomain? {
    switch PropertyListDictionary.Key(name) {
    case .init(Self.argumentName): argument
    case .init(Self.registrationName): registration
    case let key: others.withLock { $0[key] }
    }
  }

  /// Replaces all values of the domain.
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

  /// Removes a domain. The arguments and the registered values become empty instead.
  public func remove(_ name: String) {
    set(PropertyListDictionary(), forName: name)
    _ = others.withLock { $0.removeValue(forKey: .init(name)) }
  }
}
