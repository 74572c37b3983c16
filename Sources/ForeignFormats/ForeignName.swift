/// Names of fields that a foreign file gives, as names of attributes and companions.
package enum ForeignName {
  /// Attributes by which helpers and sweeps find their items. A file from elsewhere does not decide which they are.
  private static let own: Set = [
    "kind", "collection", "sweep", "secret-field", "client-certificate", "preference-type", "otp",
  ]
  private static let ownPrefixes = ["swept-", "git.", "docker.", "cargo.", "ssh.", "aws.", "npm.", "pypi.", "netrc."]
  /// Beside a prefix and the number of a field that stands twice.
  private static let maximumByteCount = 200

  /// `field.kind` for a field named `kind`, if the name is one of Coffer's own.
  package static func attribute(_ name: String) -> String {
    let name = plain(name)
    let isOwn = own.contains(name) || ownPrefixes.contains { name.hasPrefix($0) }
    return isOwn ? "field.\(name)" : name
  }

  /// Without control characters, and cut to a length that an attribute may have.
  package static func plain(_ name: String) -> String {
    var plain = ""
    for scalar in name.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      guard plain.utf8.count < maximumByteCount else { break }
      plain.unicodeScalars.append(isControl ? "_" : scalar)
    }
    return plain.isEmpty ? "field" : plain
  }
}
