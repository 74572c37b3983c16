internal import TextEncodings

/// The file known_hosts of ssh: sshd(8). Names that it keeps as hashes stay unknown.
package enum KnownHosts {
  /// The first name that stands for this host alone. Returns nil if there is none.
  package static func name(ofHostWith key: [UInt8], in text: [UInt8]) -> String? {
    let wanted = Array(Base64Text.encode(key).utf8)
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
      // Lines that begin with # or @ are comments, authorities and keys that were revoked.
      guard fields.count >= 3, let first = fields[0].first, !"#@|".utf8.contains(first), fields[2].elementsEqual(wanted) else {
        continue
      }
      let names = fields[0].split(separator: UInt8(ascii: ","))
      guard let name = names.first(where: { name in !name.contains { "*?!".utf8.contains($0) } }) else { continue }
      return String(decoding: name, as: UTF8.self)
    }
    return nil
  }
}
