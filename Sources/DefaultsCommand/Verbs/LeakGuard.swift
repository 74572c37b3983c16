internal import CofferPropertyLists
internal import LeakDetection

extension DefaultsSession {
  /// - Throws: where a value looks like a secret, by itself or under its key, and `--not-a-secret` was not given.
  func refuseSecrets(_ values: [(key: String, value: PropertyListValue)], _ domain: any EditableDomain) throws {
    guard !isNoSecret else { return }
    let findings = values.flatMap { LeakDetector.findings(key: $0.key, value: $0.value) }
    guard !findings.isEmpty else { return }
    let lines = findings.map { finding in
      DefaultsFailure.failed(
        "\(domain.title): \(finding.path): looks like a secret (\(finding.rule)); nothing has been stored",
        hint: finding.isInName
          ? "a key is not a place for a secret; --not-a-secret stores it all the same"
          : "\(LeakAdvice.command(domain.service, finding.path)) keeps it safe; --not-a-secret stores it here all the same")
    }
    try DefaultsFailure.raise(lines)
  }
}

extension DoctorFinding {
  /// Values that look like secrets.
  static func secretFindings(_ domain: any EditableDomain) -> [DoctorFinding] {
    let values = (try? domain.values()) ?? PropertyListDictionary()
    return values.sorted.flatMap { LeakDetector.findings(key: $0.key, value: $0.value) }.map { finding in
      DoctorFinding(
        kind: "secret", subject: domain.title, detail: "looks like a secret (\(finding.rule))",
        hint: finding.isInName
          ? "give it another key: coffer defaults rename" : "to move it to the vault: coffer defaults doctor --move",
        key: finding.path)
    }
  }
}
