import SecretMemory
import VaultCore

extension Attributes {
  /// All of it but the key. One that was not derived has no salt, and is malformed at the other end.
  mutating func set(_ credential: borrowing Credential, _ name: String) {
    self["\(name)-kind"] = .integer(UInt64(credential.slotType.rawValue))
    self["\(name)-salt"] = credential.salt.map { .data($0) }
  }

  mutating func set(_ kdf: KDFParameters) {
    self["iterations"] = .integer(UInt64(kdf.iterations))
    self["memory"] = .integer(UInt64(kdf.memoryKiB))
  }
}

extension Fields {
  /// - Throws: `WireError`: `field`; `VaultError` of locked memory.
  mutating func credential(_ name: String, from keys: inout Remainder) throws -> Credential {
    let kind = try Self.required("\(name)-kind", try value("\(name)-kind", SlotType.self))
    guard kind != .external else { throw WireError(.field, "\(name)-kind") }
    let salt = try Self.required("\(name)-salt", try salt("\(name)-salt"))
    return try .derived(try keys.takeKey(), kind, salt: salt)
  }

  mutating func kdf() throws -> KDFParameters {
    guard let iterations = UInt32(exactly: try requiredInteger("iterations")),
      let memory = UInt32(exactly: try requiredInteger("memory"))
    else { throw WireError(.field, "memory") }
    return try KDFParameters(iterations: iterations, memoryKiB: memory)
  }

  mutating func slot() throws(WireError) -> Identifier { try Self.required("slot", try identifier("slot")) }
}
