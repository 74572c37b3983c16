public import SecretMemory
import VaultCore

/// A manifest with the signature of its team, proven. There is no other way to get one than by signing, or by a signature that
/// fits.
///
/// The signature is over canonical bytes that are made from the manifest's values, so that it does not matter in which file, and
/// in which order, a person has written them.
public struct SignedManifest: Sendable, Equatable {
  /// The length of a signature, in bytes.
  public static let signatureByteCount = Ed25519.signatureByteCount

  /// The manifest that was signed.
  public let manifest: Manifest
  /// The public key that verifies the signature.
  public let teamKey: TeamKey
  /// The Ed25519 signature.
  public let signature: [UInt8]

  /// - Throws: `manifestTeam` where the manifest names another team.
  public init(signing manifest: Manifest, with key: borrowing TeamSigningKey) throws(VaultError) {
    try Self.check(manifest, key.publicKey)
    self.manifest = manifest
    teamKey = key.publicKey
    signature = key.sign(Self.message(manifest))
  }

  /// - Throws: `manifestTeam` where the key is not that of the manifest's team; `manifestForged` where the signature does not
  ///   fit.
  public init(_ manifest: Manifest, teamKey: TeamKey, signature: [UInt8]) throws(VaultError) {
    try Sodium.start()
    try Self.check(manifest, teamKey)
    guard Ed25519.verifies(signature, of: Self.message(manifest), teamKey.bytes) else { throw VaultError(.manifestForged) }
    self.manifest = manifest
    self.teamKey = teamKey
    self.signature = signature
  }

  private static func check(_ manifest: Manifest, _ key: TeamKey) throws(VaultError) {
    guard key.identifier == manifest.team else {
      throw VaultError(.manifestTeam, "the key is that of team \(key.identifier), not \(manifest.team)")
    }
  }

  /// The signed bytes: `"coffer/v1/manifest" 00`, then every value in one order, each with its length.
  static func message(_ manifest: Manifest) -> [UInt8] {
    var context = Context(.manifest, reserving: 512)
    func text(_ text: String) { context.appendCounted(Array(text.utf8)) }
    text(manifest.team.text)
    text(manifest.identifier.text)
    text(manifest.displayName)
    context.append(manifest.version)
    context.append(UInt32(manifest.executables.count))
    for executable in manifest.executables {
      text(executable.path)
      context.append(executable.role.rawValue)
      context.append(executable.digest)
    }
    for groups in [manifest.keychainAccessGroups, manifest.applicationGroups] {
      context.append(UInt32(groups.count))
      for group in groups { text(group.name) }
    }
    return context.bytes
  }
}
