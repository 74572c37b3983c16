public import SecretMemory
public import VaultCore

extension Vault {
  /// A vault in memory with a key file of constant bytes: opening it takes microseconds, and it protects nothing.
  /// - Throws: `VaultError`, for example if memory cannot be locked.
  public static func throwAway(
    in store: any Store = MemoryStore(), anchor: (any AnchorStore)? = nil, deviceKey: consuming Secret? = nil
  ) throws -> Vault {
    try create(in: store, with: .throwAway(), at: .test, anchor: anchor, deviceKey: deviceKey)
  }

  /// Opens a vault made by `throwAway`.
  /// - Throws: `VaultError`, for example if the vault was changed by other means.
  public static func openThrowAway(
    _ store: any Store, anchor: (any AnchorStore)? = nil, deviceKey: consuming Secret? = nil
  ) throws -> Vault {
    try open(store, with: .throwAway(), anchor: anchor, deviceKey: deviceKey)
  }
}

extension Credential {
  /// The key file of throw-away vaults.
  /// - Throws: `VaultError`, if memory cannot be locked.
  public static func throwAway() throws -> Credential {
    try .keyFile(Secret(testing: [UInt8](repeating: 0x54, count: 64)))
  }
}

extension Secret {
  /// A secret from bytes in unprotected memory of a test.
  /// - Throws: `VaultError`, if memory cannot be locked.
  public init(testing bytes: [UInt8]) throws(VaultError) {
    try self.init(copying: unsafe bytes.span.bytes)
  }

  /// A secret from a string in unprotected memory of a test.
  /// - Throws: `VaultError`, if memory cannot be locked.
  public init(testing text: String) throws(VaultError) {
    try self.init(testing: Array(text.utf8))
  }
}

extension Timestamp {
  /// 2023-11-14 22:13:20 UTC.
  public static let test = Timestamp(secondsSince1970: 1_700_000_000)
}
