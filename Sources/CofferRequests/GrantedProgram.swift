import VaultCore

/// A program that is not an app of a team, to which the owner can grant something all the same: by a name of its own.
package enum GrantedProgram: Hashable, Sendable {
  /// `coffer`.
  case command
  /// `unit:NAME.service`: a service of the system, which root alone can have made.
  case unit(String)
  /// `flatpak:ID`: an application in Flatpak's sandbox.
  case flatpak(String)
  /// `program:DIGEST`: a program of exactly this content, by its BLAKE2b-256 in hexadecimal digits.
  case program(String)

  /// Why a name that looks like one is none.
  package struct Malformed: Error, CustomStringConvertible {
    package let description: String
  }

  private static let unitPrefix = "unit:"
  private static let flatpakPrefix = "flatpak:"
  private static let programPrefix = "program:"
  private static let longestName = 255

  /// - Returns: Nil for the name of an app: it has no colon.
  /// - Throws: `Malformed`.
  package init?(named name: String) throws(Malformed) {
    if name == Caller.commandName {
      self = .command
    } else if name.hasPrefix(Self.unitPrefix) {
      let unit = String(name.dropFirst(Self.unitPrefix.count))
      guard Self.isUnit(unit) else { throw Malformed(description: "unit:NAME.service, as systemctl shows it") }
      self = .unit(unit)
    } else if name.hasPrefix(Self.flatpakPrefix) {
      let identifier = String(name.dropFirst(Self.flatpakPrefix.count))
      guard Self.isFlatpak(identifier) else { throw Malformed(description: "flatpak:ID, as flatpak list shows it") }
      self = .flatpak(identifier)
    } else if name.hasPrefix(Self.programPrefix) {
      let digest = String(name.dropFirst(Self.programPrefix.count))
      guard Self.isDigest(digest) else { throw Malformed(description: "program:DIGEST, as coffer app log shows it") }
      self = .program(digest)
    } else {
      return nil
    }
  }

  package var name: String {
    switch self {
    case .command: Caller.commandName
    case .unit(let name): Self.unitPrefix + name
    case .flatpak(let identifier): Self.flatpakPrefix + identifier
    case .program(let digest): Self.programPrefix + digest
    }
  }

  /// Whether systemd.unit(5) allows the name for a service.
  package static func isUnit(_ name: String) -> Bool {
    name.utf8.count <= longestName && name.hasSuffix(".service") && name.utf8.count > ".service".utf8.count
      && name.utf8.allSatisfy { isAlphanumeric($0) || ":-_.\\@".utf8.contains($0) }
  }

  /// Whether Flatpak allows the identifier: at least two parts, separated by dots.
  package static func isFlatpak(_ identifier: String) -> Bool {
    let parts = identifier.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return identifier.utf8.count <= longestName && parts.count >= 2
      && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { isAlphanumeric($0) || "-_".utf8.contains($0) } }
  }

  /// As it stands in the name of a program.
  /// - Parameter digest: The digest of `ContentDigest`.
  package static func digestText(_ digest: [UInt8]) -> String {
    String(decoding: digest.flatMap { [hexadecimal[Int($0 >> 4)], hexadecimal[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static let hexadecimal = Array("0123456789abcdef".utf8)

  private static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 2 * ContentDigest.byteCount && text.utf8.allSatisfy(hexadecimal.contains)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }
}
