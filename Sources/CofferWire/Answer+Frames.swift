package import AccessRights
package import CofferRequests
package import SecretMemory
package import VaultCore

// MARK: Out

extension Answer {
  /// One frame, or several if it does not fit into one: all but the last are parts.
  /// - Throws: `WireError`: `frameLength`; `VaultError` of locked memory.
  package consuming func frames(request: UInt64, _ send: (borrowing Secret) throws -> Void) throws {
    var fields = Attributes()
    switch consume self {
    case .done: break
    case .reference(let reference, let damagedHead):
      fields.set(reference)
      fields["damaged-head"] = damagedHead.map { .text($0.code.name) }
      fields["detail"] = damagedHead.map { .text($0.detail) }
    case .secret(let secret, let entry):
      let parts = [entry?.wirePart].compactMap(\.self).filter { $0.count <= WireLimits.entryByteCount }
      return try send(Message(parts: parts, secret: secret).frame(.done, request: request))
    case .entitlements(let entitlements, let application):
      fields["application"] = application.map { .text($0) }
      return try send(Message(fields: fields, parts: entitlements.groups.map(\.wirePart)).frame(.done, request: request))
    case .entries(let found):
      fields.set(found)
      return try Self.send(found.entries.map(\.wirePart), fields, request, send)
    case .rows(let rows): return try Self.send(rows.map { TLV.encode($0) }, fields, request, send)
    case .flag(let flag): fields["flag"] = .integer(flag ? 1 : 0)
    case .status(let status):
      fields["locked"] = .integer(status.isLocked ? 1 : 0)
      fields["was-unlocked"] = .integer(status.wasUnlocked ? 1 : 0)
      fields["vault"] = .text(status.vault)
    }
    try send(Message(fields: fields).frame(.done, request: request))
  }
}

extension Answer {
  /// In as many frames as it takes.
  private static func send(
    _ all: [[UInt8]], _ fields: Attributes, _ request: UInt64, _ send: (borrowing Secret) throws -> Void
  ) throws {
    var parts: [[UInt8]] = []
    var count = 0
    for part in all {
      if parts.count == WireLimits.answerPartCount || (count + part.count + 4 > WireLimits.partByteCount && !parts.isEmpty) {
        try send(Message(parts: parts).frame(.part, request: request))
        (parts, count) = ([], 0)
      }
      parts.append(part)
      count += part.count + 4
    }
    try send(Message(fields: fields, parts: parts).frame(.done, request: request))
  }
}

// MARK: In

extension Answer {
  /// - Parameter message: The last one, with the parts of those before it.
  /// - Throws: `WireError`; `VaultError` of locked memory.
  package init(to kind: Request.Kind, _ message: consuming Message) throws {
    switch kind.traits.answer {
    case .done: self = .done
    case .status: self = .status(try message.status())
    case .entitlements:
      let (held, application) = try message.entitlements()
      self = .entitlements(held, application: application)
    case .entries: self = .entries(try message.entries())
    case .flag: self = .flag(try message.flag())
    case .secret:
      let entry = try message.parts.first.map { (part) throws(WireError) in try Entry(wirePart: part) }
      self = .secret(try message.secret.take() ?? Secret(count: 0), entry: entry)
    case .reference:
      let (reference, damagedHead) = try message.reference()
      self = .reference(reference, damagedHead: damagedHead)
    case .rows: self = .rows(try message.rows())
    case .notices: throw WireError(.operation, "\(kind) is answered by notices")
    }
  }
}

extension Message {
  package borrowing func rows() throws(WireError) -> [Attributes] {
    guard secret == nil else { throw WireError(.malformed, "more than was meant") }
    try Fields(fields).end()
    return try parts.map { (part) throws(WireError) in
      do { return try TLV.decode(part) } catch { throw WireError(.malformed, "a row") }
    }
  }

  package borrowing func reference() throws(WireError) -> (Reference, damagedHead: VaultError?) {
    var fields = Fields(fields)
    let reference = try fields.reference()
    let (code, detail) = (try fields.text("damaged-head"), try fields.text("detail"))
    guard (code == nil) == (detail == nil) else { throw WireError(.field, "detail") }
    try fields.end()
    try expectNothingElse()
    return (reference, code.map { VaultError(VaultError.Code($0), detail ?? "") })
  }

  package borrowing func status() throws(WireError) -> AgentStatus {
    var fields = Fields(fields)
    let status = AgentStatus(
      isLocked: try fields.flag("locked"), wasUnlocked: try fields.flag("was-unlocked"),
      vault: try fields.requiredText("vault"))
    try fields.end()
    try expectNothingElse()
    return status
  }

  package borrowing func flag() throws(WireError) -> Bool {
    var fields = Fields(fields)
    let flag = try fields.flag("flag")
    try fields.end()
    try expectNothingElse()
    return flag
  }

  /// The parts of a frame that others follow.
  package borrowing func partsAlone() throws(WireError) -> [[UInt8]] {
    guard secret == nil else { throw WireError(.malformed, "more than was meant") }
    try Fields(fields).end()
    return parts
  }

  package borrowing func entries() throws(WireError) -> Answer.Entries {
    guard secret == nil else { throw WireError(.malformed, "more than was meant") }
    var found = Answer.Entries(try parts.map { (part) throws(WireError) in try Entry(wirePart: part) })
    var fields = Fields(fields)
    try fields.take(into: &found)
    try fields.end()
    return found
  }

  package borrowing func entitlements() throws(WireError) -> (held: Entitlements, application: String?) {
    var fields = Fields(fields)
    let application = try fields.text("application")
    try fields.end()
    guard secret == nil else { throw WireError(.malformed, "more than was meant") }
    return (
      Entitlements(try parts.map { (part) throws(WireError) in try Entitlements.Group(wirePart: part) }), application
    )
  }

  borrowing func expectNothingElse() throws(WireError) {
    guard parts.isEmpty, secret == nil else { throw WireError(.malformed, "more than was meant") }
  }

}

extension Entitlements.Group {
  fileprivate var wirePart: [UInt8] {
    var fields = Attributes()
    fields["group"] = .text(group.name)
    fields["rights"] = .integer(UInt64(rights.rawValue))
    fields["confirmed"] = .integer(UInt64(confirmedRights.rawValue))
    return TLV.encode(fields)
  }

  fileprivate init(wirePart bytes: [UInt8]) throws(WireError) {
    var fields: Fields
    do { fields = Fields(try TLV.decode(bytes)) } catch { throw WireError(.malformed, "a group") }
    let group = try fields.requiredGroup("group")
    let rights = try fields.rights("rights")
    self.init(group, rights, confirmed: try fields.rights("confirmed"))
    try fields.end()
  }
}

// MARK: Records that could not be read

extension Attributes {
  fileprivate mutating func set(_ found: Answer.Entries) {
    if found.unavailableCount > 0 { self["unavailable"] = .integer(found.unavailableCount) }
    if found.damagedCount > 0 { self["damaged"] = .integer(found.damagedCount) }
    for (index, damage) in found.damaged.enumerated() {
      self["damage-\(index)"] = .text(damage.code.name)
      self["damage-\(index)-detail"] = .text(damage.detail)
    }
  }
}

extension Fields {
  fileprivate mutating func take(into found: inout Answer.Entries) throws(WireError) {
    found.unavailableCount = try integer("unavailable") ?? 0
    found.damagedCount = try integer("damaged") ?? 0
    for index in 0..<Int(min(found.damagedCount, UInt64(Answer.Entries.damagedLimit))) {
      found.damaged.append(
        VaultError(VaultError.Code(try requiredText("damage-\(index)")), try requiredText("damage-\(index)-detail")))
    }
  }
}
