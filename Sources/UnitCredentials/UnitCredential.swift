internal import CofferRequests

/// A credential of a service, as `LoadCredential=NAME:SOCKET` in its unit asks for it: systemd.exec(5).
package struct UnitCredential: Hashable, Sendable {
  /// `NAME.service`.
  package let unit: String
  package let name: String

  package enum Malformed: Error, Equatable {
    /// systemd.unit(5) does not allow the name for a service, or it is that of a template.
    case unit
    case name
    /// The address from which the service manager connects would be too long for it.
    case tooLong(limit: Int)
  }

  private static let longestName = 255
  /// A socket's address has 108 bytes; systemd uses 107 of them.
  private static let longestAddress = 107
  /// `NUL RANDOM /unit/ UNIT / NAME`, RANDOM has 16 digits at most.
  private static let addressPrefix = Array("/unit/".utf8)
  private static let digits = 16
  /// The number of bytes that the unit and the name may have together.
  package static let longest = longestAddress - 1 - digits - addressPrefix.count - 1

  package init(unit: String, name: String) throws(Malformed) {
    guard GrantedProgram.isUnit(unit), !unit.hasSuffix("@.service") else { throw .unit }
    guard Self.isName(name) else { throw .name }
    guard unit.utf8.count + name.utf8.count <= Self.longest else { throw .tooLong(limit: Self.longest) }
    (self.unit, self.name) = (unit, name)
  }

  /// Narrower than systemd, which allows spaces and punctuation: the name stands in a unit, where `%` and quotes have a meaning.
  private static func isName(_ name: String) -> Bool {
    (1...longestName).contains(name.utf8.count) && !name.hasPrefix(".")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "._-".utf8.contains(byte)
        }
      }
  }

  /// The credential that the address of a peer names.
  /// - Parameter address: The bytes of `sun_path`, without padding.
  /// - Returns: nil for an address of another form.
  package init?(address: [UInt8]) {
    guard address.first == 0 else { return nil }
    let rest = address.dropFirst()
    let digits = rest.prefix { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
      default: false
      }
    }
    guard (1...Self.digits).contains(digits.count), rest.dropFirst(digits.count).starts(with: Self.addressPrefix) else {
      return nil
    }
    let parts = rest.dropFirst(digits.count + Self.addressPrefix.count)
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count == 2, let unit = String(validating: parts[0], as: UTF8.self),
      let name = String(validating: parts[1], as: UTF8.self)
    else { return nil }
    do throws(Malformed) { try self.init(unit: unit, name: name) } catch { return nil }
  }
}
