package import VaultCore

/// The name of a key in the vault, which is also that of the file with its public key.
package struct SSHKeyName: Hashable, Sendable, CustomStringConvertible {
  /// In bytes. The file has an ending, and another one while it is written.
  private static let longest = 200
  private static let marks = "._-@+".utf8

  package let description: String

  /// Returns nil for anything but letters, digits and `._-@+` of ASCII, with a letter or a digit at its beginning.
  package init?(_ text: String) {
    guard let first = text.utf8.first, Self.isAlphanumeric(first), text.utf8.count <= Self.longest,
      text.utf8.allSatisfy({ Self.isAlphanumeric($0) || Self.marks.contains($0) })
    else { return nil }
    description = text
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension Item {
  /// The attribute with the public key, as `PublicKeyLine` has it.
  package static let sshPublicKey = userPrefix + "ssh.public-key"
  /// The attribute with the hosts for which `coffer ssh config` names the key, separated by blanks.
  package static let sshHosts = userPrefix + "ssh.hosts"
  private static let sshName = "application-label"

  /// An item for a private key, in the group `AccessGroup.sshKeys`.
  package init(sshKey name: SSHKeyName) {
    self.init(.key)
    attributes[Self.sshName] = .data(Array(name.description.utf8))
  }

  /// Returns nil for an item of another kind.
  package var sshKeyName: SSHKeyName? {
    guard itemClass == .key, case .data(let bytes)? = attributes[Self.sshName] else { return nil }
    return SSHKeyName(String(decoding: bytes, as: UTF8.self))
  }
}
