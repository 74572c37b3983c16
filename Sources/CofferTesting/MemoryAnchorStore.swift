public import VaultCore

/// The anchor of one vault, in memory. Not thread-safe.
public final class MemoryAnchorStore: AnchorStore {
  public var bytes: [UInt8]?
  /// The note of the vault that was last opened at the path. nil if there is no path.
  public var note: [UInt8]?

  public init(_ bytes: [UInt8]? = nil) {
    self.bytes = bytes
  }

  public func lastVault() throws -> [UInt8]? { note }

  public func load(_ vault: Identifier) throws -> [UInt8]? { bytes }

  public func update(_ vault: Identifier, _ replacement: ([UInt8]?) throws -> [UInt8]?) throws {
    if let anchor = try replacement(bytes) { bytes = anchor }
  }
}
