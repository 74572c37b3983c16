/// The numbers of the messages of the SSH agent protocol that are looked at here. All others are passed on as they are.
package enum MessageNumber {
  package static let failure: UInt8 = 5
  package static let success: UInt8 = 6
  package static let requestIdentities: UInt8 = 11
  package static let identities: UInt8 = 12
  package static let sign: UInt8 = 13
  package static let signature: UInt8 = 14
  package static let add: UInt8 = 17
  package static let lock: UInt8 = 22
  package static let unlock: UInt8 = 23
  package static let addConstrained: UInt8 = 25
  package static let extensionRequest: UInt8 = 27

  /// The constraint of a key by the number of seconds that it may be used.
  static let lifetime: UInt8 = 1
}

package enum AgentLimits {
  /// The bytes of a message without its length: as OpenSSH has it.
  package static let messageByteCount = 256 << 10
  /// Connections at one time. A further one takes the place of the one that has waited longest.
  package static let clients = 64
  /// How long a key may be used that is given to OpenSSH for one signature, in seconds.
  package static let keySeconds: UInt32 = 2
  /// Hosts through which an agent is forwarded, and the last one: as many as OpenSSH remembers for a connection.
  package static let sessionBinds = 16
  /// Public keys of the vault that are offered, and bytes of the file of each.
  package static let keys = 1024
  package static let publicKeyByteCount = 64 << 10
}
