import CofferConsole
import CofferFiles
internal import CofferPreferences
internal import CofferPropertyLists
import Glibc

/// The domains that a command line can name.
struct DefaultsStore {
  let host: DefaultsInvocation.Host
  /// An app or a group; nil for the user's own domains.
  var container: String?

  /// Nothing is made or changed by asking for a domain.
  func domain(_ domain: DefaultsInvocation.Domain) throws -> any EditableDomain {
    switch domain {
    case .global: try stored(GlobalName.inMessages, .global)
    case .named(let name): try stored(name, try about(domain: name) { try DomainName(name) })
    case .application(let name): try self.domain(.named(ApplicationName.domain(of: name)))
    case .path(let path): try file(path)
    }
  }

  private func stored(_ name: String, _ domain: DomainName) throws -> any EditableDomain {
    let (directory, suffix) = try place(of: domain)
    if let suffix { return StoredDomain(named: name, domain.onHost(suffix), in: directory) }
    let places = try places()
    guard directory.path == places.directory(of: domain) else { return StoredDomain(named: name, domain, in: directory) }
    return StoredDomain(named: name, domain, in: directory, places.options(of: domain))
  }

  /// A property list that lies among the domains, or beside whose journal, belongs to running programs: it is changed as they do it. Any
  /// other one is changed as a file.
  private func file(_ given: String) throws -> any EditableDomain {
    let path = given.hasSuffix(".plist") ? given : given + ".plist"
    let base = String(path.dropLast(".plist".count))
    guard let slash = base.utf8.lastIndex(of: UInt8(ascii: "/")) else { return PropertyListFile(named: given, at: path) }
    let directory = PreferenceDirectory(slash == base.startIndex ? "/" : String(base[..<slash]))
    let name = String(base[base.utf8.index(after: slash)...])
    let isOurs = directory == (try? place().directory) || [".journal", ".lock"].contains { unsafe access(base + $0, F_OK) == 0 }
    guard isOurs, let domain = name == ".GlobalPreferences" ? .global : try? DomainName(name) else {
      return PropertyListFile(named: given, at: path)
    }
    let places = try? places()
    let isUsers = places.map { directory.path == $0.user } ?? false
    return StoredDomain(named: given, domain, in: directory, isUsers ? places?.options(of: domain) ?? .init() : .init())
  }

  /// Where the domains of the host lie, and what their names end in.
  private func place(of domain: DomainName? = nil) throws -> (directory: PreferenceDirectory, suffix: String?) {
    let places = try places()
    let path = try ContainerPlace.preferences(of: domain, in: container, places) ?? places.user
    let directory = PreferenceDirectory(path)
    let identifier: String
    switch host {
    case .any: return (directory, nil)
    case .current: identifier = places.host
    case .named(let name): identifier = name
    }
    // It becomes a part of the name of a file.
    guard (try? DomainName("h.\(identifier)")) != nil else {
      throw DefaultsFailure.usage("-host \(identifier): cannot be a part of a file's name", hint: "defaults printHostIdentifier")
    }
    return (PreferenceDirectory("\(path)/ByHost"), identifier)
  }

  func places() throws -> SearchPlaces { try SearchPlaces { Environment[$0] } }

  /// Where the files of the domains are.
  func directory() throws -> PreferenceDirectory { try place().directory }

  /// All domains that have files.
  func names() throws -> [DefaultsInvocation.Domain] {
    try names(in: place())
  }

  private func names(in place: (directory: PreferenceDirectory, suffix: String?)) throws -> [DefaultsInvocation.Domain] {
    try DomainListing.names(in: place.directory, suffix: place.suffix)
      .map { $0 == GlobalName.inMessages ? .global : .named($0) }
  }

  /// All domains that hold values, by their titles, and why others could not be read.
  func everything() throws -> (domains: [NamedValues], failures: [DefaultsFailure]) {
    var domains: [NamedValues] = []
    var failures: [DefaultsFailure] = []
    for name in try names() {
      let domain = try domain(name)
      do {
        let values = try domain.values()
        if !values.isEmpty { domains.append(NamedValues(name: domain.name, values: values)) }
      } catch {
        failures.append(DefaultsFailure(error, about: domain.title))
      }
    }
    return (domains.sorted { $0.title.utf8.lexicographicallyPrecedes($1.title.utf8) }, failures)
  }
}

/// A domain as of one moment.
struct NamedValues {
  let name: String
  let values: PropertyListDictionary

  var isGlobal: Bool { name == GlobalName.inMessages }
  var title: String { GlobalName.title(of: name) }
}
