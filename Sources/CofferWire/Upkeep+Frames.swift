internal import CofferLifecycle
package import CofferRequests
package import SecretMemory
package import VaultCore

extension UpkeepRequest {
  consuming func message() throws -> Message {
    var fields = Attributes()
    switch consume self {
    case .policy(let proof): return try Self.message(fields, proof)
    case .verify(let proof): return try Self.message(fields, proof)
    case .acceptRollback(let proof): return try Self.message(fields, proof)
    case .setPolicy(let limits, let proof):
      for (name, value) in limits { fields[name.rawValue] = .integer(value) }
      return try Self.message(fields, proof)
    case .backup(let isHandedOn, let isVerified, let proof):
      fields["handed-on"] = .integer(isHandedOn ? 1 : 0)
      fields["verified"] = .integer(isVerified ? 1 : 0)
      guard let proof else { return Message(fields: fields) }
      return try Self.message(fields, proof)
    case .restore(let hasFile, let isTrial, let proof):
      fields["file"] = .integer(hasFile ? 1 : 0)
      fields["trial"] = .integer(isTrial ? 1 : 0)
      guard let proof else { return Message(fields: fields) }
      return try Self.message(fields, proof)
    case .repair(let hasFile, let acceptsUnproven, let isTrial, let proof):
      fields["file"] = .integer(hasFile ? 1 : 0)
      fields["unproven"] = .integer(acceptsUnproven ? 1 : 0)
      fields["trial"] = .integer(isTrial ? 1 : 0)
      return try Self.message(fields, proof)
    case .rotate(let order, let proof): return try Self.message(order.wireRow, proof)
    }
  }

  private static func message(_ fields: Attributes, _ proof: borrowing Credential) throws -> Message {
    var fields = fields
    fields.set(proof, "by")
    return try Message(fields: fields, secret: proof.text.duplicate())
  }

  /// - Throws: `WireError`: `field`; `operation` for a request that is not about upkeep; `VaultError` of locked memory.
  static func parse(_ kind: Request.Kind, _ content: inout RequestFields) throws -> UpkeepRequest {
    switch kind {
    case .policy: return .policy(by: try content.proof())
    case .verify: return .verify(by: try content.proof())
    case .acceptRollback: return .acceptRollback(by: try content.proof())
    case .setPolicy:
      var limits: [Limits.Name: UInt64] = [:]
      for name in Limits.Name.allCases { limits[name] = try content.fields.integer(name.rawValue) }
      return .setPolicy(limits, by: try content.proof())
    case .backup:
      let isHandedOn = try content.fields.flag("handed-on")
      return .backup(
        isHandedOn: isHandedOn, isVerified: try content.fields.flag("verified"), by: try content.proofIfGiven())
    case .restoreVault:
      let hasFile = try content.fields.flag("file")
      return .restore(hasFile: hasFile, isTrial: try content.fields.flag("trial"), by: try content.proofIfGiven())
    case .repair:
      let (hasFile, acceptsUnproven) = (try content.fields.flag("file"), try content.fields.flag("unproven"))
      return .repair(
        hasFile: hasFile, acceptsUnproven: acceptsUnproven, isTrial: try content.fields.flag("trial"), by: try content.proof())
    case .rotate: return .rotate(try RotationOrder(&content.fields), by: try content.proof())
    default: throw WireError(.operation, "\(kind) is not about upkeep")
    }
  }
}

extension RequestFields {
  /// The one credential of a request.
  fileprivate mutating func proof() throws -> Credential {
    var keys = try keys()
    let proof = try fields.credential("by", from: &keys)
    try keys.end()
    return proof
  }

  fileprivate mutating func proofIfGiven() throws -> Credential? { hasSecret ? try proof() : nil }
}

extension UpkeepProgress {
  /// - Throws: `VaultError` of locked memory.
  package func frame(request: UInt64) throws -> Secret {
    var fields = Attributes()
    fields["part"] = .text(part)
    fields["done"] = .integer(done)
    fields["total"] = .integer(total)
    return try Message(fields: fields).frame(.progress, request: request)
  }

  /// - Throws: `field`, `malformed`.
  package init(_ message: borrowing Message) throws(WireError) {
    var fields = Fields(message.fields)
    let (part, done) = (try fields.requiredText("part"), try fields.requiredInteger("done"))
    self.init(part, done, of: try fields.requiredInteger("total"))
    try fields.end()
    try message.expectNothingElse()
  }
}

extension UpkeepQuestion {
  /// As many questions as it takes to show all of the rows.
  package static func shown(_ rows: [Attributes]) -> [UpkeepQuestion] {
    var (questions, page, count) = ([UpkeepQuestion](), [Attributes](), 0)
    for row in rows {
      let length = TLV.encode(row).count + 4
      if page.count == WireLimits.answerPartCount || count + length > WireLimits.partByteCount / 2 && !page.isEmpty {
        questions.append(UpkeepQuestion(.shown, page))
        (page, count) = ([], 0)
      }
      page.append(row)
      count += length
    }
    return page.isEmpty ? questions : questions + [UpkeepQuestion(.shown, page)]
  }

  /// - Throws: `WireError`: `frameLength`; `VaultError` of locked memory.
  package func frame(request: UInt64) throws -> Secret {
    var fields = Attributes()
    fields["kind"] = .integer(UInt64(kind.rawValue))
    return try Message(fields: fields, parts: rows.map { TLV.encode($0) }).frame(.question, request: request)
  }

  /// - Throws: `field`, `malformed`.
  package init(_ message: borrowing Message) throws(WireError) {
    var fields = Fields(message.fields)
    let kind = try Fields.required("kind", try fields.value("kind", Kind.self))
    try fields.end()
    guard message.secret == nil else { throw WireError(.malformed, "more than was meant") }
    self.init(
      kind,
      try message.parts.map { (part) throws(WireError) in
        do { return try TLV.decode(part) } catch { throw WireError(.malformed, "a row") }
      })
  }
}

extension UpkeepReply {
  /// The frame of every reply but `file`, which is a descriptor.
  /// - Throws: `VaultError` of locked memory.
  package consuming func frame(request: UInt64) throws -> Secret {
    var fields = Attributes()
    switch consume self {
    case .yes: fields["agreed"] = .integer(1)
    case .file: throw WireError(.malformed, "a descriptor has a frame of its own")
    case .no: fields["agreed"] = .integer(0)
    case .credentials(let present, let new):
      fields.set(new, "new")
      guard let present else { return try Message(fields: fields, secret: new.text.duplicate()).frame(.reply, request: request) }
      fields.set(present, "by")
      return try Message(fields: fields, secret: present.text.joined(to: new.text)).frame(.reply, request: request)
    }
    return try Message(fields: fields).frame(.reply, request: request)
  }

  /// - Throws: `WireError`: `field`, `malformed`; `VaultError` of locked memory.
  package static func parse(_ message: consuming Message) throws -> UpkeepReply {
    var fields = Fields(message.fields)
    guard message.parts.isEmpty else { throw WireError(.malformed, "more than was meant") }
    let secret = try message.secret.take() ?? Secret(count: 0)
    let reply = try secret.count == 0 ? decision(&fields) : credentials(&fields, secret)
    try fields.end()
    return reply
  }

  private static func decision(_ fields: inout Fields) throws(WireError) -> UpkeepReply {
    try fields.flag("agreed") ? .yes : .no
  }

  private static func credentials(_ fields: inout Fields, _ secret: consuming Secret) throws -> UpkeepReply {
    var keys = Remainder(secret)
    let present = keys.count > Key.byteCount ? try fields.credential("by", from: &keys) : nil
    let new = try fields.credential("new", from: &keys)
    try keys.end()
    return .credentials(present: present, new: new)
  }
}

extension FrameChannel {
  /// Sends a reply, with a descriptor if it is one.
  /// - Throws: `Failure`; `VaultError` of locked memory.
  package func send(_ reply: consuming UpkeepReply, request: UInt64) throws {
    switch consume reply {
    case .file(let descriptor): try hand(descriptor, request: request)
    case let reply: try send(reply.frame(request: request))
    }
  }
}
