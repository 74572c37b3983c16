import CofferConsole
internal import CofferPreferences
internal import CofferPropertyLists

extension DefaultsSession {
  /// Every place where the programs of a domain look for a key, in their order, and which of them answers.
  ///
  /// Not among them is what only a running program knows: its arguments, the suites it has added, the values it has registered.
  func explain(_ domain: DefaultsInvocation.Domain, _ key: String) throws {
    guard store.host == .any else { throw DefaultsFailure.usage("explain: shows all hosts; leave -currentHost and -host out") }
    let findings = try findings(domain, key)
    let answer = findings.firstIndex { $0.value != nil }
    if isJSON {
      let objects = findings.enumerated().map { index, finding in
        var members: [(String, JSON)] = [("place", .text(finding.kind.words)), ("domain", .text(finding.name))]
        if let path = finding.path { members.append(("path", .text(path))) }
        if let value = finding.value { members.append(("value", JSON(value))) }
        return JSON.object(members + [("answers", .boolean(index == answer))])
      }
      try print(JSON.array(objects).description)
    } else {
      var table = Table(heading: ["", "PLACE", "VALUE", "FILE"])
      for (index, finding) in findings.enumerated() {
        table.rows.append([
          index == answer ? "*" : "", finding.kind.words, finding.value.map { JSON($0).description } ?? "-", finding.path ?? "",
        ])
      }
      try Descriptor.output.write(table.text(style: .current()))
    }
    if answer == nil {
      throw DefaultsFailure.said("The domain/default pair of (\(try store.domain(domain).name), \(key)) does not exist")
    }
  }

  private func findings(_ domain: DefaultsInvocation.Domain, _ key: String) throws -> [SearchFinding] {
    let name: DomainName
    switch domain {
    case .named(let text): name = try about(domain: text) { try DomainName(text) }
    case .application(let text): name = try DomainName(try ApplicationName.domain(of: text))
    case .global: name = .global
    case .path(let path):
      throw DefaultsFailure.usage("explain: \(path) is a file: no other place is searched")
    }
    let lists = SearchLists(
      places: try store.places(), volatileDomains: VolatileDomains(arguments: []), source: ExistingDomains())
    let list = lists.list(name).application.list
    // A domain that cannot be read might contain the value.
    for entry in list.entries {
      let problem = (entry.domain as? FileDomain)?.problem ?? (entry.domain as? PlistFileDomain)?.problem
      if let problem { throw DefaultsFailure(problem, about: entry.path ?? entry.name) }
    }
    // The arguments and the registered values would be those of this process, which has none.
    var others: Set<SearchEntry.Kind> = [.argument, .registration]
    // Asked for by itself, the global domain has nothing above it.
    if name == .global { others.formUnion([.applicationByHost, .application, .anyUserApplication]) }
    return list.explain(key).filter { !others.contains($0.kind) }
  }
}

extension SearchEntry.Kind {
  var words: String {
    switch self {
    case .managed: "managed"
    case .argument: "arguments"
    case .applicationByHost: "application, this host"
    case .application: "application"
    case .suiteByHost: "suite, this host"
    case .suite: "suite"
    case .globalByHost: "global, this host"
    case .global: "global"
    case .language: "language"
    case .anyUserApplication: "application, any user"
    case .anyUserSuite: "suite, any user"
    case .anyUserGlobal: "global, any user"
    case .registration: "registered"
    }
  }
}
