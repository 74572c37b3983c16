import PublicKeyBoxes
package import SecretMemory
package import VaultCore

/// The secret keys of a device. Section 2 of docs/sync-format.md.
package final class DeviceIdentity: Sendable {
  let signing: Ed25519.KeyPair
  let box: PublicKeyBox.KeyPair
  package let person: String
  package let name: String

  /// - Parameters:
  ///   - signingSeed: 32 random bytes.
  ///   - boxSeed: 32 others.
  package init(signingSeed: borrowing Secret, boxSeed: borrowing Secret, person: String, name: String) throws {
    try Sodium.start()
    signing = try Ed25519.KeyPair(seed: signingSeed)
    box = try PublicKeyBox.KeyPair(seed: boxSeed)
    (self.person, self.name) = (person, name)
  }

  /// The label of the checksum in the text of a recovery key.
  package static let recoveryLabel = "coffer/v1/sync-recovery-key"

  /// The device of a recovery key.
  package convenience init(recovery key: borrowing Key, space: Identifier, person: String, name: String) throws {
    var (sign, box) = (Context("sync-recovery-sign"), Context("sync-recovery-box"))
    sign.append(space)
    box.append(space)
    let signingSeed = try key.derive(sign)
    let boxSeed = try key.derive(box)
    try self.init(signingSeed: signingSeed.secret, boxSeed: boxSeed.secret, person: person, name: name)
  }

  package func record(_ role: Role, isRecovery: Bool = false) -> DeviceRecord {
    DeviceRecord(
      signingKey: signing.publicKey, boxKey: box.publicKey, role: role, isRecovery: isRecovery, person: person, name: name)
  }

  package var id: Identifier { record(.reader).id }
}
