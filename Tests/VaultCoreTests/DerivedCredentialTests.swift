import CofferTesting
import Passphrases
import Testing

@testable import SecretMemory
@testable import VaultCore

/// A credential whose key derivation another process has done.
@Suite struct DerivedCredentialTests {
  @Test func itOpensItsSlotAlone() throws {
    let store = MemoryStore()
    var vault = try Vault.create(in: store, with: .keyFile(Secret(count: 32)), at: .test)
    try vault.addSlot(.passphrase(Secret(testing: "one")), kdf: .floor)
    try vault.addSlot(.passphrase(Secret(testing: "two")), kdf: .floor)
    let slots = try Vault.inspect(store).slots
    func one(for slot: SlotDescription) throws -> Credential {
      try .passphrase(Secret(testing: "one")).derived(salt: slot.salt, slot.kdf, ceiling: .standard)
    }
    #expect(try Vault.open(store, with: one(for: slots[1])).openedSlot == slots[1])
    #expect(code { _ = try Vault.open(store, with: one(for: slots[2])) } == .wrongCredential)
    // A key with the salt of another slot, or of another kind of slot.
    let key = try one(for: slots[1])
    func open(_ type: SlotType, _ slot: Int) throws {
      _ = try Vault.open(store, with: .derived(key.text.duplicate(), type, salt: slots[slot].salt))
    }
    #expect(code { try open(.passphrase, 1) } == nil)
    #expect(code { try open(.passphrase, 2) } == .wrongCredential)
    #expect(code { try open(.passphrase, 0) } == .noSuchSlot)
    #expect(code { try open(.keyFile, 1) } == .noSuchSlot)
    for (keyCount, saltCount) in [(31, 16), (33, 16), (32, 15), (32, 17)] {
      let salt = [UInt8](repeating: 1, count: saltCount)
      #expect(code { _ = try Credential.derived(Secret(count: keyCount), .passphrase, salt: salt) } == .wrongCredential)
    }
  }

  /// Parameters above the ceiling are refused by the derivation itself.
  @Test func theCeilingIsCheckedBeforeTheDerivation() throws {
    let store = MemoryStore()
    _ = try Vault.create(in: store, with: .passphrase(Secret(testing: "one")), kdf: .floor, at: .test)
    let slot = try Vault.inspect(store).slots[0]
    let low = KDFCeiling(iterations: 2, memoryKiB: 64 << 10)
    let credential = try Credential.passphrase(Secret(testing: "one"))
    #expect(code { _ = try credential.derived(salt: slot.salt, slot.kdf, ceiling: low) } == .kdfAboveCeiling)
    // If it had been spent, it would have ended with `outOfMemory` at best.
    let ruinous = try KDFParameters(iterations: .max, memoryKiB: .max)
    #expect(code { _ = try credential.derived(salt: slot.salt, ruinous, ceiling: .standard) } == .kdfAboveCeiling)
    // A comparison derives no key.
    _ = try Vault.open(store, with: credential.derived(salt: slot.salt, slot.kdf, ceiling: .standard), ceiling: low)
  }

  @Test func itMakesASlotThatThePassphraseOpens() throws {
    let store = MemoryStore()
    func both() throws -> Credential { try .passphrase(Secret(testing: "one"), andKeyFile: Secret(count: 40)) }
    let new = try both().derived(salt: nil, .floor, ceiling: .standard)
    _ = try Vault.create(in: store, with: new, kdf: .floor, at: .test)
    let slot = try Vault.inspect(store).slots[0]
    #expect(new.salt == slot.salt && slot.type == .passphraseAndKeyFile)
    var vault = try Vault.open(store, with: both())
    // Each has a salt of its own.
    #expect(try both().derived(salt: nil, .floor, ceiling: .standard).salt != slot.salt)
    try vault.addSlot(both().derived(salt: nil, .floor, ceiling: .standard), kdf: .floor)
    #expect(try Vault.inspect(store).slots.count == 2)
  }
}
