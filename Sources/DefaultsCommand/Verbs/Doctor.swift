import CofferConsole
internal import CofferPreferences
internal import CofferPropertyLists

/// Something that is not as it should be.
struct DoctorFinding {
  /// The kind of finding: a stable word, for programs.
  let kind: String
  /// The domain or the file.
  let subject: String
  let detail: String
  let hint: String
  /// The key of the value concerned.
  var key: String?

  var text: String {
    let place = key.map { "\(subject): \($0)" } ?? subject
    return "\(place.escapingControls()): \(detail.escapingControls())\n  hint: \(hint.escapingControls())"
  }

  var json: JSON {
    let key: [(String, JSON)] = key.map { [("key", .text($0))] } ?? []
    return .object(
      [("kind", .text(kind)), ("subject", .text(subject))] + key + [("detail", .text(detail)), ("hint", .text(hint))])
  }
}

extension DefaultsSession {
  /// Looks at every domain of the user, those of this host as well, and changes nothing.
  /// - Throws: status `failed` without a word where something was found.
  func doctor() throws {
    var findings: [DoctorFinding] = []
    var count = 0
    for host in [DefaultsInvocation.Host.any, .current] {
      let store = DefaultsStore(host: host)
      findings += try store.fileFindings()
      // A directory that cannot be listed was reported before.
      for name in (try? store.names()) ?? [] {
        count += 1
        // The store says what it finds when a domain is opened.
        var opened: (any EditableDomain)?
        findings += try DefaultsNotes.collect { opened = try store.domain(name) }
        guard let domain = opened else { continue }
        findings += DoctorFinding.readingFindings(domain)
        findings += DoctorFinding.sizeFindings(domain)
        findings += DoctorFinding.secretFindings(domain)
      }
    }
    if isJSON {
      try print(JSON.array(findings.map(\.json)).description)
    } else {
      for finding in findings { try print(finding.text) }
      if findings.isEmpty { try print("\(counted(count, "domain")), nothing found") }
    }
    if !findings.isEmpty { throw DefaultsFailure.silent }
  }
}

extension DoctorFinding {
  /// Domains whose values cannot be read, or not all of them.
  static func readingFindings(_ domain: any EditableDomain) -> [DoctorFinding] {
    do {
      return try DefaultsNotes.collect { _ = try domain.values() }
    } catch {
      let failure = DefaultsFailure(error)
      return [
        DoctorFinding(
          kind: "unreadable", subject: domain.title, detail: failure.reason,
          hint: failure.hint ?? "look at its files; nothing overwrites them")
      ]
    }
  }

  /// Domains that have grown into a store of data.
  static func sizeFindings(_ domain: any EditableDomain) -> [DoctorFinding] {
    guard let stored = domain as? StoredDomain, stored.domain.byteCount > PreferenceLimits.noticeByteCount else { return [] }
    return [
      DoctorFinding(
        kind: "large", subject: domain.title,
        detail: "\(stored.domain.byteCount >> 10) KiB; \(PreferenceLimits.domainByteCount >> 10) KiB is the limit",
        hint: "keep data in files or in a database, settings here")
    ]
  }
}
