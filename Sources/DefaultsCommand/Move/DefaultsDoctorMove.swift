import CofferConsole
internal import CofferPreferences
internal import CofferPropertyLists
internal import LeakDetection

/// `defaults doctor --move`: values that look like secrets go to the vault, and references to them stay.
///
/// At every moment each value is in the vault, in its domain, or in both: the vault has it on the disk before the domain is
/// touched. Running it again finishes an interrupted move: a value that the vault has already is not stored a second time,
/// and domains that hold references are cleared of what their journals may still have.
struct DefaultsDoctorMove {
  private let host: DefaultsInvocation.Host
  private let domain: DefaultsInvocation.Domain?
  private let key: String?
  private let vault: any SecretDestination

  init(
    _ host: DefaultsInvocation.Host, _ domain: DefaultsInvocation.Domain?, _ key: String?, to vault: any SecretDestination
  ) {
    self.host = host
    self.domain = domain
    self.key = key
    self.vault = vault
  }

  /// - Throws: `VaultSideFailure`; `DefaultsFailure`, after everything that could be moved has been.
  func run() throws {
    var failures: [DefaultsFailure] = []
    let domains = try domains(&failures)
    var candidates: [MoveCandidate] = []
    for domain in domains {
      do {
        candidates += try self.candidates(in: domain)
      } catch {
        failures.append(DefaultsFailure(error))
      }
    }
    if !candidates.isEmpty { try VaultSideFailure.catching { try vault.store(candidates) } }
    let moved = leaveReferences(candidates, &failures)
    compact(domains, &failures)
    if !moved.isEmpty || failures.isEmpty { try show(moved) }
    try DefaultsFailure.raise(failures)
  }

  // MARK: Looking

  /// The one that was named, or all of the user, those of this host as well.
  private func domains(_ failures: inout [DefaultsFailure]) throws -> [any EditableDomain] {
    if let domain { return [try DefaultsStore(host: host).domain(domain)] }
    var domains: [any EditableDomain] = []
    for host in host == .any ? [.any, .current] : [host] {
      let store = DefaultsStore(host: host)
      for name in try store.names() {
        do { domains.append(try store.domain(name)) } catch { failures.append(DefaultsFailure(error)) }
      }
    }
    return domains
  }

  private func candidates(in domain: any EditableDomain) throws -> [MoveCandidate] {
    let values = try domain.values()
    guard let key else {
      return try values.sorted.flatMap { try found(in: domain, $0.key, $0.value) }
    }
    if let value = values[key] {
      let found = try found(in: domain, key, value)
      guard found.isEmpty, !value.holdsVaultReference else { return found }
      // A value that was named is moved even if it does not look like a secret.
      return [try MoveCandidate(domain, Finding(rule: "named", key: key), value, to: vault)]
    }
    let named = try values.sorted.flatMap { try found(in: domain, $0.key, $0.value) }.filter { $0.place.path == key }
    guard !named.isEmpty else {
      throw DefaultsFailure.said("The domain/default pair of (\(domain.name), \(key)) does not exist")
    }
    return named
  }

  private func found(in domain: any EditableDomain, _ key: String, _ value: PropertyListValue) throws -> [MoveCandidate] {
    try LeakDetector.findings(key: key, value: value).filter { !$0.isInName }.compactMap { finding in
      try value.value(at: finding.steps[...]).map { try MoveCandidate(domain, finding, $0, to: vault) }
    }
  }

  // MARK: The domains

  /// - Returns: Those whose places hold references now.
  private func leaveReferences(_ candidates: [MoveCandidate], _ failures: inout [DefaultsFailure]) -> [MoveCandidate] {
    var moved: [MoveCandidate] = []
    for candidate in candidates {
      do {
        try about(domain: candidate.domain.title) {
          // While the domain still has the value, so that it can be done again.
          if let path = candidate.domain.filePath { try ResidualCopies.erase(candidate.value, besides: path) }
          try candidate.leaveReference()
        }
        moved.append(candidate)
      } catch {
        failures.append(DefaultsFailure(error))
      }
    }
    return moved
  }

  /// Removes old values from the files of the domains, also those that an interrupted earlier run has left.
  private func compact(_ domains: [any EditableDomain], _ failures: inout [DefaultsFailure]) {
    for domain in domains {
      guard let stored = domain as? StoredDomain, stored.domain.values().sorted.contains(where: \.value.holdsVaultReference)
      else {
        continue
      }
      do {
        try stored.domain.compact()
      } catch {
        failures.append(DefaultsFailure(error, about: domain.title))
      }
    }
  }

  private func show(_ moved: [MoveCandidate]) throws {
    if vault.isJSON {
      return try Descriptor.output.write(JSON.array(moved.map(\.json)).description + "\n")
    }
    for candidate in moved { try Descriptor.output.write(candidate.line.escapingControls() + "\n") }
    if moved.isEmpty { try Descriptor.output.write("nothing to move\n") }
  }
}

extension MoveCandidate {
  /// Under the lock of the domain, and only where the value is still the one that the vault has.
  ///
  /// A stored domain brings its property list up to date when all its values are references, in `compact`: a file that is being
  /// written and never gets its name would otherwise keep those whose turn had not come.
  fileprivate func leaveReference() throws {
    guard let stored = domain as? StoredDomain else {
      return try domain.update(place.key) { try replaced($0) }
    }
    var failure: (any Error)?
    try stored.domain.update(place.key) { old in
      do {
        return try replaced(old)
      } catch {
        failure = error
        return old
      }
    }
    if let failure { throw failure }
  }

  private func replaced(_ old: PropertyListValue?) throws -> PropertyListValue {
    guard let old, old.value(at: place.steps[...]) == value,
      let new = old.replacing(at: place.steps[...], with: .string(reference))
    else {
      throw DefaultsFailure.failed(
        "\(place.path): has been changed at this moment; the vault has the value from before", hint: "defaults doctor --move")
    }
    return new
  }

  fileprivate var line: String {
    let type = typeName == "string" ? "" : ", was \(typeName ?? "")"
    return "\(domain.title): \(place.path): moved to \(reference) (\(place.rule)\(type))"
  }

  fileprivate var json: JSON {
    .object([
      ("domain", .text(domain.name)), ("key", .text(place.key)), ("path", .text(place.path)), ("rule", .text(place.rule)),
      ("type", .text(typeName ?? "")), ("reference", .text(reference)),
    ])
  }
}

extension EditableDomain {
  /// The path of the files of the domain, without their extensions.
  fileprivate var filePath: String? {
    guard let stored = self as? StoredDomain else { return nil }
    return "\(stored.domain.directory.path)/\(stored.domain.name.fileName)"
  }
}
