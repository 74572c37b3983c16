package import VaultCore

/// What the agent says to a call.
package enum Answer: ~Copyable, Sendable {
  /// There is nothing to say but that it is done.
  case done
  case reference(Reference)
  case secret(Secret)
  /// - application: `TEAM.identifier`, for an app.
  case entitlements(Entitlements, application: String?)
  /// All of them, in one part after the other.
  case entries(Entries)
  case flag(Bool)
  case status(AgentStatus)
  /// Slots, pins, grants and the like: what `Rows` makes of them.
  case rows([Attributes])
  /// The client returns the number and sends the request again.
  case challenge(Challenge)
  /// - cause: Finer than the code.
  case failed(code: String, cause: String, detail: String)

  /// What was found, and what could not be read.
  package struct Entries: Equatable, Sendable {
    package var entries: [Entry] = []
    /// Items that do not open here: of other devices, or of classes that are locked.
    package var unavailableCount: UInt64 = 0
    package var damagedCount: UInt64 = 0
    /// Of the damaged records the first, `WireLimits.damagedCount` at most.
    package var damaged: [VaultError] = []

    package init(_ entries: [Entry] = []) { self.entries = entries }

    package mutating func append(_ damage: VaultError) {
      damagedCount += 1
      if damaged.count < WireLimits.damagedCount { damaged.append(damage) }
    }
  }
}

package struct AgentStatus: Equatable, Sendable {
  package var isLocked: Bool
  /// Whether it was unlocked since the agent runs: then items of the class "after first unlock" can be read though it is locked.
  package var wasUnlocked: Bool
  /// The file of the vault.
  package var vault: String

  package init(isLocked: Bool, wasUnlocked: Bool, vault: String) {
    self.isLocked = isLocked
    self.wasUnlocked = wasUnlocked
    self.vault = vault
  }
}

// MARK: Out

extension Answer {
  /// One frame, or several where there is more than fits into one: all but the last are parts.
  /// - Throws: `WireError`: `frameLength`; `VaultError` of locked memory.
  package consuming func frames(request: UInt64, _ send: (borrowing Secret) throws -> Void) throws {
    var fields = Attributes()
    switch consume self {
    case .done: break
    case .reference(let reference): fields.set(reference)
    case .secret(let secret): return try send(Message(secret: secret).frame(.done, request: request))
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
    case .challenge(let challenge): return try send(challenge.frame(request: request))
    case .failed(let code, let cause, let detail):
      fields["code"] = .text(code)
      fields["cause"] = .text(cause)
      fields["detail"] = .text(detail)
      return try send(Message(fields: fields).frame(.failed, request: request))
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
      if parts.count == WireLimits.partCount || (count + part.count + 4 > WireLimits.partByteCount && !parts.isEmpty) {
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

extension Message {
  package borrowing func rows() throws(WireError) -> [Attributes] {
    guard secret == nil else { throw WireError(.malformed, "more than was meant") }
    try Fields(fields).end()
    return try parts.map { (part) throws(WireError) in
      do { return try TLV.decode(part) } catch { throw WireError(.malformed, "a row") }
    }
  }

  package borrowing func reference() throws(WireError) -> Reference {
    var fields = Fields(fields)
    let reference = try fields.reference()
    try fields.end()
    try expectNothingElse()
    return reference
  }

  package borrowing func status() throws(WireError) -> AgentStatus {
    var fields = Fields(fields)
    let status = AgentStatus(
      isLocked: try fields.flag("locked"), wasUnlocked: try fields.flag("was-unlocked"),
      vault: try Fields.required("vault", try fields.text("vault")))
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

  package borrowing func failure() throws(WireError) -> (code: String, cause: String, detail: String) {
    var fields = Fields(fields)
    let code = try Fields.required("code", try fields.text("code"))
    let cause = try Fields.required("cause", try fields.text("cause"))
    let detail = try Fields.required("detail", try fields.text("detail"))
    try fields.end()
    try expectNothingElse()
    return (code, cause, detail)
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
    let group = try Fields.required("group", try fields.group("group"))
    let rights = try Self.rights("rights", &fields)
    self.init(group, rights, confirmed: try Self.rights("confirmed", &fields))
    try fields.end()
  }

  private static func rights(_ name: String, _ fields: inout Fields) throws(WireError) -> Entitlements.Rights {
    let number = try Fields.required(name, try fields.integer(name))
    guard let raw = UInt8(exactly: number), Entitlements.Rights.all.isSuperset(of: .init(rawValue: raw)) else {
      throw WireError(.field, name)
    }
    return Entitlements.Rights(rawValue: raw)
  }
}

// MARK: What could not be read

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
    for index in 0..<Int(min(found.damagedCount, UInt64(WireLimits.damagedCount))) {
      found.damaged.append(
        VaultError(
          VaultError.Code(try Self.required("damage-\(index)", try text("damage-\(index)"))),
          try Self.required("damage-\(index)-detail", try text("damage-\(index)-detail"))))
    }
  }
}
