public import VaultCore

/// The anchor of one vault, in memory. Not thread-safe.
public final class MemoryAnchorStore: AnchorStore {
  /// The stored anchor; nil if there is none.
  public var bytes: [UInt8]?
  /// The note of the vault that was last opened at the path. nil if there is no path.
  public var note: [UInt8]?

  /// An anchor store with these bytes.
  public init(_ bytes: [UInt8]? = nil) {
    self.bytes = bytes
  }

  /// - Throws: Nothing; other anchor stores throw.
  public func lastVault() throws -> [UInt8]? { note }

  /// - Throws: Nothing; other anchor stores throw.
  public func load(_ vault: Identifier) throws -> [UInt8]? { bytes }

  /// - Throws: The error of `replacement`.
  public func update(_ vault: Identifier, isDurable: Bool, _ replacement: ([UInt8]?) throws -> [UInt8]?) throws {
    if let anchor = try replacement(bytes) { bytes = anchor }
  }

  /// - Throws: Nothing; other anchor stores throw.
  public func accept(_ vault: Identifier, _ anchor: [UInt8]) throws { bytes = anchor }
}
