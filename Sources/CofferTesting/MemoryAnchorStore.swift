public import VaultCore

/// An anchor in memory. Not thread-safe.
public final class MemoryAnchorStore: AnchorStore {
  public var bytes: [UInt8]?

  public init(_ bytes: [UInt8]? = nil) {
    self.bytes = bytes
  }

  public func load() throws -> [UInt8]? { bytes }

  public func save(_ anchor: [UInt8]) throws { bytes = anchor }
}
