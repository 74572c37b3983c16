package import VaultCore

/// What concerns the vault as a whole, and the ways into it. Only an agent is asked so that keeps the file where its user cannot read it:
/// else whoever wants it opens the file.
package enum VaultCall: ~Copyable, Sendable {
  /// Makes the vault, where there is none. As everywhere here, the client has derived the credentials.
  /// - recovery: A recovery key that opens it too.
  case create(Credential, KDFParameters, recovery: Credential?)
  /// - by: What proves in this very call who asks.
  case addSlot(Credential, KDFParameters, by: Credential)
  case replaceSlot(Identifier, Credential, KDFParameters, by: Credential)
  case removeSlot(Identifier, by: Credential)

  package var operation: Operation {
    borrowing get {
      switch self {
      case .create: .create
      case .addSlot: .addSlot
      case .replaceSlot: .replaceSlot
      case .removeSlot: .removeSlot
      }
    }
  }

  // MARK: Out

  consuming func frame(request: UInt64) throws -> Secret {
    var fields = Attributes()
    switch consume self {
    case .create(let credential, let kdf, let recovery):
      fields.set(credential, "new")
      fields.set(kdf)
      guard let recovery else {
        return try Message(fields: fields, secret: credential.text.duplicate()).frame(.create, request: request)
      }
      fields.set(recovery, "recovery")
      return try Message(fields: fields, secret: credential.text.joined(to: recovery.text)).frame(.create, request: request)
    case .addSlot(let credential, let kdf, let proof):
      fields.set(proof, "by")
      fields.set(credential, "new")
      fields.set(kdf)
      return try Message(fields: fields, secret: proof.text.joined(to: credential.text)).frame(.addSlot, request: request)
    case .replaceSlot(let id, let credential, let kdf, let proof):
      fields["slot"] = .data(id.bytes)
      fields.set(proof, "by")
      fields.set(credential, "new")
      fields.set(kdf)
      return try Message(fields: fields, secret: proof.text.joined(to: credential.text)).frame(.replaceSlot, request: request)
    case .removeSlot(let id, let proof):
      fields["slot"] = .data(id.bytes)
      fields.set(proof, "by")
      return try Message(fields: fields, secret: proof.text.duplicate()).frame(.removeSlot, request: request)
    }
  }

  // MARK: In

  /// - Throws: `WireError`: `field`; `VaultError`: `kdfBelowFloor`, and of locked memory.
  static func parse(_ operation: Operation, _ fields: inout Fields, _ secret: consuming Secret) throws -> VaultCall {
    var rest = Remainder(secret)
    switch operation {
    case .create:
      let credential = try fields.credential("new", from: &rest)
      guard rest.count > 0 else { return .create(credential, try fields.kdf(), recovery: nil) }
      let recovery = try fields.credential("recovery", from: &rest)
      try rest.end()
      return .create(credential, try fields.kdf(), recovery: recovery)
    case .addSlot:
      let proof = try fields.credential("by", from: &rest)
      let credential = try fields.credential("new", from: &rest)
      try rest.end()
      return .addSlot(credential, try fields.kdf(), by: proof)
    case .replaceSlot:
      let proof = try fields.credential("by", from: &rest)
      let credential = try fields.credential("new", from: &rest)
      try rest.end()
      return .replaceSlot(try fields.slot(), credential, try fields.kdf(), by: proof)
    case .removeSlot:
      let proof = try fields.credential("by", from: &rest)
      try rest.end()
      return .removeSlot(try fields.slot(), by: proof)
    default: throw WireError(.operation, "\(operation) does not concern a vault")
    }
  }
}

/// What is left of the secret of a message, taken key by key.
struct Remainder: ~Copyable {
  private static let keyByteCount = 32
  private let secret: Secret
  private var position = 0

  init(_ secret: consuming Secret) { self.secret = secret }

  var count: Int { secret.count - position }

  mutating func takeKey() throws -> Secret {
    guard count >= Self.keyByteCount else { throw WireError(.field, "a key") }
    defer { position += Self.keyByteCount }
    return try secret.part(position..<position + Self.keyByteCount)
  }

  func end() throws(WireError) {
    guard count == 0 else { throw WireError(.malformed, "more than was meant") }
  }
}

extension Attributes {
  /// All of it but the key. One that was not derived has no salt, and is malformed at the other end.
  mutating func set(_ credential: borrowing Credential, _ name: String) {
    self["\(name)-kind"] = .integer(UInt64(credential.slotType.rawValue))
    self["\(name)-salt"] = credential.salt.map { .data($0) }
  }

  fileprivate mutating func set(_ kdf: KDFParameters) {
    self["iterations"] = .integer(UInt64(kdf.iterations))
    self["memory"] = .integer(UInt64(kdf.memoryKiB))
  }
}

extension Fields {
  /// - Throws: `WireError`: `field`; `VaultError` of locked memory.
  mutating func credential(_ name: String, from rest: inout Remainder) throws -> Credential {
    let kind = try Self.required("\(name)-kind", try value("\(name)-kind", SlotType.self))
    guard kind != .external else { throw WireError(.field, "\(name)-kind") }
    let salt = try Self.required("\(name)-salt", try salt("\(name)-salt"))
    return try .derived(try rest.takeKey(), kind, salt: salt)
  }

  fileprivate mutating func kdf() throws -> KDFParameters {
    guard let iterations = UInt32(exactly: try Self.required("iterations", try integer("iterations"))),
      let memory = UInt32(exactly: try Self.required("memory", try integer("memory")))
    else { throw WireError(.field, "memory") }
    return try KDFParameters(iterations: iterations, memoryKiB: memory)
  }

  fileprivate mutating func slot() throws(WireError) -> Identifier {
    try Self.required("slot", try identifier("slot"))
  }
}
