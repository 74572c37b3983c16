import Passphrases
package import VaultCore

/// What concerns the vault as a whole, and the ways into it. Only an agent is asked so that keeps the file where its user cannot read it:
/// else whoever wants it opens the file.
package enum VaultCall: ~Copyable, Sendable {
  /// Makes the vault, where there is none.
  /// - recovery: The text of a recovery key that opens it too; empty: none.
  case create(Credential, KDFParameters, recovery: Secret)
  case inspect
  /// - by: What proves in this very call who asks.
  case addSlot(Credential, KDFParameters, by: Credential)
  case replaceSlot(Identifier, Credential, KDFParameters, by: Credential)
  case removeSlot(Identifier, by: Credential)

  package var operation: Operation {
    borrowing get {
      switch self {
      case .create: .create
      case .inspect: .inspect
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
      let secret = try credential.joined().joined(to: recovery)
      return try Message(fields: fields, secret: secret).frame(.create, request: request)
    case .inspect: return try Message().frame(.inspect, request: request)
    case .addSlot(let credential, let kdf, let proof):
      fields.set(proof, "by")
      fields.set(credential, "new")
      fields.set(kdf)
      return try Message(fields: fields, secret: proof.joined().joined(to: credential.joined())).frame(.addSlot, request: request)
    case .replaceSlot(let id, let credential, let kdf, let proof):
      fields["slot"] = .data(id.bytes)
      fields.set(proof, "by")
      fields.set(credential, "new")
      fields.set(kdf)
      let secret = try proof.joined().joined(to: credential.joined())
      return try Message(fields: fields, secret: secret).frame(.replaceSlot, request: request)
    case .removeSlot(let id, let proof):
      fields["slot"] = .data(id.bytes)
      fields.set(proof, "by")
      return try Message(fields: fields, secret: proof.joined()).frame(.removeSlot, request: request)
    }
  }

  // MARK: In

  /// - Throws: `WireError`: `field`; `VaultError`: `kdfBelowFloor`, and of locked memory.
  static func parse(_ operation: Operation, _ fields: inout Fields, _ secret: consuming Secret) throws -> VaultCall {
    var rest = Remainder(secret)
    switch operation {
    case .create:
      let credential = try fields.credential("new", from: &rest)
      return .create(credential, try fields.kdf(), recovery: try rest.take(rest.count))
    case .inspect:
      try rest.end()
      return .inspect
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

/// What is left of the secret of a message, taken piece by piece.
private struct Remainder: ~Copyable {
  private let secret: Secret
  private var position = 0

  init(_ secret: consuming Secret) { self.secret = secret }

  var count: Int { secret.count - position }

  mutating func take(_ count: Int) throws -> Secret {
    guard count <= self.count else { throw WireError(.field, "a length") }
    defer { position += count }
    return try secret.part(position..<position + count)
  }

  func end() throws(WireError) {
    guard count == 0 else { throw WireError(.malformed, "more than was meant") }
  }
}

extension Credential {
  fileprivate borrowing func joined() throws -> Secret { try text.joined(to: file) }
}

extension Attributes {
  fileprivate mutating func set(_ credential: borrowing Credential, _ name: String) {
    self["\(name)-kind"] = .integer(UInt64(credential.slotType.rawValue))
    self["\(name)-text"] = .integer(UInt64(credential.text.count))
    self["\(name)-file"] = .integer(UInt64(credential.file.count))
  }

  fileprivate mutating func set(_ kdf: KDFParameters) {
    self["iterations"] = .integer(UInt64(kdf.iterations))
    self["memory"] = .integer(UInt64(kdf.memoryKiB))
  }
}

extension Fields {
  fileprivate mutating func credential(_ name: String, from rest: inout Remainder) throws -> Credential {
    let kind = try Self.required("\(name)-kind", try value("\(name)-kind", SlotType.self))
    let text = try rest.take(try length("\(name)-text"))
    let file = try rest.take(try length("\(name)-file"))
    // What a kind does not have is not there: nothing is dropped unseen.
    guard kind == .keyFile || kind == .passphraseAndKeyFile || file.count == 0, kind != .keyFile || text.count == 0 else {
      throw WireError(.field, "\(name)-kind")
    }
    switch kind {
    case .passphrase: return try .passphrase(text)
    case .recoveryKey: return try .recoveryKey(text)
    case .keyFile: return try .keyFile(file)
    case .passphraseAndKeyFile: return try .passphrase(text, andKeyFile: file)
    case .external: throw WireError(.field, "\(name)-kind")
    }
  }

  private mutating func length(_ name: String) throws(WireError) -> Int {
    guard let count = Int(exactly: try Self.required(name, try integer(name))) else { throw WireError(.field, name) }
    return count
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
