import CofferFiles
import CofferSync
package import VaultCore

/// Where the log of a space lies: `dir:PATH` or `ssh:HOST:PATH`, with an absolute path, or `etcd:HOST:PORT,…`.
package enum EngineAddress: Equatable, Sendable, CustomStringConvertible {
  case directory(String)
  case ssh(host: String, path: String)
  /// `HOST:PORT` of the members of a cluster.
  case etcd([String])

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
    case "etcd":
      let endpoints = parts[1].split(separator: ",", omittingEmptySubsequences: false)
      guard endpoints.allSatisfy(Self.isEndpoint) else { return nil }
      self = .etcd(endpoints.map(String.init))
    default: return nil
    }
  }

  /// A name or an address, of IPv6 in brackets, and a port: nothing that a URL would take for another part.
  private static func isEndpoint(_ text: Substring) -> Bool {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      return false
    }
    var host = text[..<colon]
    let isAddress = host.first == "[" && host.last == "]" && host.count > 2
    if isAddress { host = host.dropFirst().dropLast() }
    return !host.isEmpty
      && host.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        case UInt8(ascii: ":"): isAddress
        default: false
        }
      }
  }

  private static func colonBeforeSlash(_ text: Substring) -> Substring.Index? {
    text.utf8.indices.first { index in
      text.utf8[index] == UInt8(ascii: ":") && text.utf8[text.utf8.index(after: index)...].first == UInt8(ascii: "/")
    }
  }

  /// The file or the key of an entry, for people.
  package func place(of number: UInt64, in space: Identifier) -> String {
    let key = "coffer/1/\(space)/log/\(TemporaryName.hexadecimal(number))"
    return switch self {
    case .directory(let path): Path.join(path, key)
    case .ssh(let host, let path): "\(host):\(Path.join(path, key))"
    case .etcd: key
    }
  }

  package var description: String {
    switch self {
    case .directory(let path): "dir:\(path)"
    case .ssh(let host, let path): "ssh:\(host):\(path)"
    case .etcd(let endpoints): "etcd:\(endpoints.joined(separator: ","))"
    }
  }

  /// The use of its directories.
  package enum Purpose: String, CaseIterable, Sendable {
    /// They are there.
    case existing
    /// They are made.
    case new
    /// Those of a mailbox, made by another device.
    case mailbox
    /// Those of a mailbox are made, and removed with the engine.
    case temporary

    package var isMade: Bool { self == .new || self == .temporary }
    package var isMailbox: Bool { self == .mailbox || self == .temporary }
  }

  /// - Parameters:
  ///   - space: The space, or the mailbox of an exchange.
  ///   - purpose: Whether its directories are made.
  ///   - tell: Gets the lines that ssh and the other machine write to standard error, as they are, on another thread.
  ///   - etcd: Connects to the members of a cluster: this module has no library for it.
  /// - Throws: errors of the engine.
  package func connect(
    _ space: Identifier, _ purpose: Purpose = .existing, tell: @escaping @Sendable (String) -> Void,
    etcd: (_ endpoints: [String]) throws -> any WaitingEngine
  ) throws -> any WaitingEngine {
    switch self {
    case .directory(let path): try DirectoryEngine(path, space: space, purpose)
    case .ssh(let host, let path): try RemoteEngine(host, path, space, purpose, tell: tell)
    case .etcd(let endpoints): try etcd(endpoints)
    }
  }
}
