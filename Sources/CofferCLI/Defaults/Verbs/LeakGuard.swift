internal import LeakDetection
internal import PropertyLists

extension DefaultsSession {
  /// - Throws: where a value looks like a secret, by itself or under its key, and `--not-a-secret` was not given.
  func refuseSecrets(_ values: [(key: String, value: PropertyListValue)], _ domain: any EditableDomain) throws {
    guard !isNoSecret else { return }
    let findings = values.flatMap { LeakDetector.findings(key: $0.key, value: $0.value) }
    guard !findings.isEmpty else { return }
    let lines = findings.map { finding in
      DefaultsFailure.failed(
        "\(domain.title): \(finding.path): looks like a secret (\(finding.rule)); nothing has been stored",
        hint: "\(finding.command(storingFor: domain.title)) keeps it safe; --not-a-secret stores it here all the same")
    }
    try DefaultsFailure.raise(lines)
  }
}

extension Finding {
  /// What stores the secret in the vault, to be typed at a shell. The secret itself is asked for.
  func command(storingFor domain: String) -> String {
    let words = domain.utf8.contains(UInt8(ascii: "/")) ? ["--service", domain, "--account", path] : ["\(domain)/\(path)"]
    return (["coffer secret set"] + words.map(Self.quoted)).joined(separator: " ")
  }

  private static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "-._/:@%+,=".utf8.contains(byte)
        }
      }
    return isPlain ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }
}

extension DoctorFinding {
  /// Values that look like secrets.
  static func secretFindings(_ domain: any EditableDomain) -> [DoctorFinding] {
    let values = (try? domain.values()) ?? PropertyListDictionary()
    return values.sorted.flatMap { LeakDetector.findings(key: $0.key, value: $0.value) }.map { finding in
      DoctorFinding(
        kind: "secret", subject: domain.title, detail: "looks like a secret (\(finding.rule))",
        hint: "\(finding.command(storingFor: domain.title)), then delete it here", key: finding.path)
    }
  }
}
