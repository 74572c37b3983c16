internal import CofferPropertyLists

/// The search list of an application or a suite:
///
/// 1. the administrator's forced settings, for this user and for all
/// 2. the command-line arguments
/// 3. the application's own values, for this machine and for any
/// 4. suites, the one added last first, for this machine and for any
/// 5. the global domain, for this machine and for any; its languages come from the environment if they are not stored
/// 6. the languages of the user
/// 7. for all users: application, suites, global
/// 8. registered values
///
/// Thread-safe.
public final class ApplicationList: Sendable {
  /// The name of the application's domain.
  public let name: DomainName
  /// The search list of the application.
  public let list: SearchList
  /// The one entry that `set` writes: the application's own values, for any machine.
  public let own: any WritableDomain
  private let places: SearchPlaces
  private let source: any DomainSource

  init(_ name: DomainName, places: SearchPlaces, volatileDomains: VolatileDomains, source: any DomainSource) {
    self.name = name
    self.places = places
    self.source = source
    let builder = EntryBuilder(places: places, source: source)
    let own = builder.file(.application, name)
    self.own = own.domain
    var entries = builder.managed(name)
    entries.append(SearchEntry(.argument, name: VolatileDomains.argumentName, domain: volatileDomains.argument))
    entries.append(builder.byHost(.applicationByHost, name))
    entries.append(own.entry)
    entries.append(builder.byHost(.globalByHost, .global))
    entries.append(builder.file(.global, .global).entry)
    if let environment = volatileDomains.environment {
      entries.append(SearchEntry(.global, name: DomainName.global.name, domain: environment))
    }
    entries += builder.languages(asIn: entries)
    entries.append(builder.anyUser(.anyUserApplication, name))
    entries.append(builder.anyUser(.anyUserGlobal, .global))
    entries.append(SearchEntry(.registration, name: VolatileDomains.registrationName, domain: volatileDomains.registration))
    list = SearchList(entries)
  }

  /// Adds a suite before all suites that were added earlier; one that is in the list already moves there.
  public func addSuite(_ suite: DomainName) {
    // Neither the list's own domain nor the global domain can be a suite.
    guard suite != name, suite != .global else { return }
    let builder = EntryBuilder(places: places, source: source)
    let added = [builder.byHost(.suiteByHost, suite), builder.file(.suite, suite).entry]
    let anyUser = builder.anyUser(.anyUserSuite, suite)
    list.edit { entries in
      Self.remove(suite, from: &entries)
      let place = entries.firstIndex { ![.managed, .argument, .applicationByHost, .application].contains($0.kind) }
      entries.insert(contentsOf: added, at: place ?? entries.endIndex)
      let last = entries.firstIndex { [.anyUserSuite, .anyUserGlobal, .registration].contains($0.kind) }
      entries.insert(anyUser, at: last ?? entries.endIndex)
    }
  }

  /// Takes a suite out of the list.
  public func removeSuite(_ suite: DomainName) {
    list.edit { Self.remove(suite, from: &$0) }
  }

  private static func remove(_ suite: DomainName, from entries: inout [SearchEntry]) {
    entries.removeAll {
      [.suiteByHost, .suite, .anyUserSuite].contains($0.kind) && $0.name.utf8.elementsEqual(suite.name.utf8)
    }
  }
}

/// Creates the entries of a list.
struct EntryBuilder {
  let places: SearchPlaces
  let source: any DomainSource

  private func path(_ directory: String, _ name: DomainName) -> String { SearchPlaces.join(directory, "\(name.fileName).plist") }

  func file(_ kind: SearchEntry.Kind, _ name: DomainName) -> (entry: SearchEntry, domain: any WritableDomain) {
    let directory = places.directory(of: name)
    let domain = source.domain(name, in: PreferenceDirectory(directory), places.options(of: name))
    return (SearchEntry(kind, name: name.name, path: path(directory, name), domain: domain), domain)
  }

  /// Few programs have values for one machine, so the files are created by the first write.
  func byHost(_ kind: SearchEntry.Kind, _ name: DomainName) -> SearchEntry {
    let file = name.onHost(places.host)
    var options = FileDomain.Options()
    options.isCreating = false
    let directory = places.byHost(of: name)
    let domain = source.domain(file, in: PreferenceDirectory(directory), options)
    return SearchEntry(kind, name: name.name, path: path(directory, file), domain: domain)
  }

  private func propertyList(_ kind: SearchEntry.Kind, _ name: String, at path: String) -> SearchEntry {
    SearchEntry(kind, name: name, path: path, domain: source.propertyList(at: path))
  }

  func managed(_ name: DomainName) -> [SearchEntry] {
    let trust = ManagedTrust(owner: places.administrator, top: places.managed)
    return [places.managedUser, places.managed].map { directory in
      let path = path(directory, name)
      return SearchEntry(.managed, name: name.name, path: path, domain: source.managedPropertyList(at: path, trust))
    }
  }

  func anyUser(_ kind: SearchEntry.Kind, _ name: DomainName) -> SearchEntry {
    propertyList(kind, name.name, at: path(places.anyUser, name))
  }

  /// The settings of the languages in `AppleLanguages`, which is read from the entries above once, at the start of the program.
  func languages(asIn entries: [SearchEntry]) -> [SearchEntry] {
    let key = "AppleLanguages"
    let wanted = entries.lazy.compactMap { $0.domain.value(forKey: key) }.first?.coercedToStringArray ?? []
    var found: [String] = []
    return wanted.prefix(8).compactMap { language in
      // `de` is used for `de-AT`.
      var parts = language.split(separator: "-", omittingEmptySubsequences: false)[...]
      while !parts.isEmpty {
        let language = parts.joined(separator: "-")
        parts.removeLast()
        guard let name = try? DomainName(language), name != .global,
          let path = places.languages.map({ path($0, name) }).first(where: source.exists)
        else { continue }
        guard !found.contains(language) else { return nil }
        found.append(language)
        return propertyList(.language, language, at: path)
      }
      return nil
    }
  }
}
