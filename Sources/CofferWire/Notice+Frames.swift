package import CofferRequests
package import SecretMemory
internal import VaultCore

extension Notice {
  private var kind: UInt64 {
    switch self {
    case .added: 1
    case .updated: 2
    case .removed: 3
    case .locked: 4
    case .unlocked: 5
    case .missed: 6
    }
  }

  // MARK: Out

  /// - Parameter notices: At most `WireLimits.answerPartCount`. None: from here on it is watched.
  /// - Throws: `WireError`: `frameLength`; `VaultError` of locked memory.
  package static func frame(_ notices: [Notice], request: UInt64) throws -> Secret {
    try Message(parts: notices.map(\.wirePart)).frame(.notices, request: request)
  }

  private var wirePart: [UInt8] {
    var fields = Attributes()
    fields["kind"] = .integer(kind)
    if let reference { fields.set(reference) }
    return TLV.encode(fields)
  }

  // MARK: In

  fileprivate init(wirePart bytes: [UInt8]) throws(WireError) {
    var fields: Fields
    do { fields = Fields(try TLV.decode(bytes)) } catch { throw WireError(.malformed, "a notice") }
    switch try fields.requiredInteger("kind") {
    case 1: self = .added(try fields.reference())
    case 2: self = .updated(try fields.reference())
    case 3: self = .removed(try fields.reference())
    case 4: self = .locked
    case 5: self = .unlocked
    case 6: self = .missed
    default: throw WireError(.field, "kind")
    }
    try fields.end()
  }
}

extension Message {
  package borrowing func notices() throws(WireError) -> [Notice] {
    guard fields.count == 0, secret == nil else { throw WireError(.malformed, "more than was meant") }
    return try parts.map { (part) throws(WireError) in try Notice(wirePart: part) }
  }
}
