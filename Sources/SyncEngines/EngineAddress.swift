package import CofferSync
package import VaultCore

/// Where the log of a space lies: `dir:PATH` or `ssh:HOST:PATH`, with an absolute path.
package enum EngineAddress: Equatable, Sendable, CustomStringConvertible {
  case directory(String)
  case ssh(host: String, path: String)

  /// - Returns: nil for another form, a relative path, or a host that ssh would take for an option.
  package init?(_ text: String) {
    guard text.utf8.count <= 4096, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    switch parts[0] {
    case "dir":
      guard parts[1].hasPrefix("/") else { return nil }
      self = .directory(String(parts[1]))
    case "ssh":
      // The path begins with the first slash: an address of IPv6 has colons.
      guard let colon = Self.colonBeforeSlash(parts[1]) else { return nil }
      let host = parts[1][..<colon]
      guard !host.isEmpty, !host.hasPrefix("-") else { return nil }
      self = .ssh(host: String(host), path: String(parts[1][parts[1].index(after: colon)...]))
    default: return nil
    }
  }

  private static func colonBeforeSlash(_ text: Substring) -> Substring.Index? {
    text.utf8.indices.first { index in
      text.utf8[index] == UInt8(ascii: ":") && text.utf8[text.utf8.index(after: index)...].first == UInt8(ascii: "/")
    }
  }

  package var description: String {
    switch self {
    case .directory(let path): "dir:\(path)"
    case .ssh(let host, let path): "ssh:\(host):\(path)"
    }
  }

  /// The use of its directories.
  package enum Purpose: String, CaseIterable, Sendable {
    /// They are there.
    case existing
    /// They are made.
    case new
    /// They are made, and removed with the engine.
    case temporary
  }

  /// - Parameters:
  ///   - space: The space, or the mailbox of an exchange.
  ///   - purpose: Whether its directories are made.
  /// - Throws: errors of the engine.
  package func connect(_ space: Identifier, _ purpose: Purpose = .existing) throws -> any Engine {
    switch self {
    case .directory(let path): try DirectoryEngine(path, space: space, purpose)
    case .ssh(let host, let path): try RemoteEngine(host, path, space, purpose)
    }
  }
}
