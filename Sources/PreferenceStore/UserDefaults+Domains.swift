public import CofferPreferences
internal import CofferPropertyLists
internal import Foundation
internal import Synchronization

extension UserDefaults {
  /// The result of each place of the search list for the key, in search order. The first place that has a value determines the
  /// value that is read.
  public func explain(_ key: String) -> [SearchFinding] { list.explain(key) }

  /// The places of the search list, in search order.
  public func domains() -> [SearchEntry] { list.entries }

  func edit(_ suiteName: String, _ body: (DomainName) -> Void) {
    do throws(PreferenceError) {
      body(try DomainName(suiteName))
    } catch {
      Diagnostics.unusable(error)
    }
  }

  func volatileValues(_ name: String) -> [String: Any] {
    lists.volatileDomains[name]?.values().foundationDictionary ?? [:]
  }

  func setVolatileValues(_ values: [String: Any], _ name: String) {
    let values = orTrap { () throws(PreferenceError) in try PropertyListDictionary(storing: values) }
    lists.volatileDomains.set(values, forName: name)
  }

  func persistentValues(_ name: String) -> [String: Any]? {
    guard let name = try? DomainName(name) else { return nil }
    let values = lists.domain(name).values()
    return values.isEmpty ? nil : values.foundationDictionary
  }

  func setPersistentValues(_ values: [String: Any], _ name: String) {
    let values = orTrap { () throws(PreferenceError) in try PropertyListDictionary(storing: values) }
    do throws(PreferenceError) {
      let name = try DomainName(name)
      for (key, value) in values.sorted { try Self.checkForSecret(value, key, name) }
      let domain = lists.domain(name)
      let keys = Mutex<[String]?>(nil)
      let observation = domain.observe { _ in
      } tell: { origin, changed in
        if origin == .thisProcess { keys.withLock { $0 = changed } }
      }
      try domain.replaceAll(with: values)
      observation.cancel()
      // The search list has posted a change in a domain of its own already.
      let changed = keys.withLock { $0 }
      if changed != nil, list.entries.contains(where: { $0.domain === domain }) { return }
      post(SearchListChange(origin: .thisProcess, keys: changed ?? []))
    } catch {
      Diagnostics.unusable(error)
    }
  }
}
