import CofferTesting
import Passphrases
import SecretMemory
import Testing
import VaultCore

@Suite struct AccessibilityTests {
  func device(_ byte: UInt8) throws -> Secret { try Secret(testing: [UInt8](repeating: byte, count: 32)) }

  @Test(arguments: Accessibility.allCases)
  func everyClassKeepsASecret(accessibility: Accessibility) throws {
    let store = MemoryStore()
    var vault = try Vault.create(
      in: store, with: .passphrase(Secret(testing: "one")), kdf: .lowMemory, at: .test, deviceKey: device(1))
    try vault.addSlot(.throwAway())
    let reference = try vault.add(
      Item(service: "s", account: "a"), secret: Secret(testing: "value"), accessible: accessibility, at: .test)
    let here = try Vault.openThrowAway(store, deviceKey: device(1))
    #expect(try here.entry(reference).accessibility == accessibility)
    #expect(try bytes(of: reference, in: here) == Array("value".utf8))
    #expect(try here.verify().unavailableCount == 0)
    // On another machine, and on one without a device key.
    let elsewhere = try Vault.openThrowAway(store, deviceKey: device(2))
    let without = try Vault.openThrowAway(store)
    let isBound = accessibility.isThisDeviceOnly
    #expect(code { _ = try elsewhere.secret(of: reference) } == (isBound ? .wrongDeviceKey : nil))
    #expect(code { _ = try without.secret(of: reference) } == (isBound ? .deviceKeyMissing : nil))
    #expect(try without.entries().unavailableCount == (isBound ? 1 : 0))
    #expect(try without.verify().isSound)
    #expect(try without.verify().unavailableCount == (isBound ? 1 : 0))
  }

  @Test func deviceItemNeedsADeviceKey() throws {
    var vault = try Vault.throwAway()
    let refusal = code {
      try vault.add(Item(service: "s", account: "a"), secret: Secret(count: 0), accessible: .whenUnlockedThisDevice, at: .test)
    }
    #expect(refusal == .deviceKeyMissing)
    #expect(code { _ = try Vault.throwAway(deviceKey: Secret(count: 31)) } == .deviceKeyMissing)
  }

  @Test func passcodeItemsGoWithThePassphrase() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store, deviceKey: device(1))
    func add() -> VaultError.Code? {
      code {
        try vault.add(
          Item(service: "s", account: "a"), secret: Secret(count: 0), accessible: .whenPasscodeSetThisDevice, at: .test)
      }
    }
    #expect(add() == .passphraseSlotMissing)
    let slot = try vault.addSlot(.passphrase(Secret(testing: "one")), kdf: .lowMemory)
    #expect(add() == nil)
    #expect(code { try vault.removeSlot(slot.id) } == .passphraseSlotMissing)
    #expect(code { try vault.replaceSlot(slot.id, with: .throwAway()) } == .passphraseSlotMissing)
  }

  /// With a new device key, the keys of the old device do not open; new items get a key of their own beside them.
  @Test(arguments: Accessibility.allCases.filter(\.isThisDeviceOnly))
  func anotherDeviceAddsAKeyOfItsOwn(accessibility: Accessibility) throws {
    let store = MemoryStore()
    var first = try Vault.create(
      in: store, with: .passphrase(Secret(testing: "one")), kdf: .lowMemory, at: .test, deviceKey: device(1))
    try first.addSlot(.throwAway())
    func add(_ vault: inout Vault, _ account: String) throws -> Reference {
      try vault.add(
        Item(service: "s", account: account), secret: Secret(testing: account), accessible: accessibility, at: .test)
    }
    let old = try add(&first, "old")
    var second = try Vault.openThrowAway(store, deviceKey: device(2))
    let new = try add(&second, "new")
    let groupRecords = store.records.values.filter { $0.meta.first == 2 }
    _ = try add(&second, "newer")
    #expect(store.records.values.filter { $0.meta.first == 2 }.map(\.meta) == groupRecords.map(\.meta), "one key is enough")
    #expect(try bytes(of: new, in: second) == Array("new".utf8))
    #expect(code { _ = try second.secret(of: old) } == .wrongDeviceKey)
    #expect(code { _ = try first.secret(of: new) } == .wrongDeviceKey)
    // The first device goes on with its own.
    #expect(try bytes(of: add(&first, "older"), in: first) == Array("older".utf8))
    #expect(try first.verify().isSound && first.verify().unavailableCount == 2)
    // Without a device key neither opens, but what is there can go.
    var without = try Vault.openThrowAway(store)
    #expect(code { _ = try add(&without, "none") } == .deviceKeyMissing)
    try without.remove(Item(service: "s", account: "old"))
    try second.remove(Reference(group: .standard, id: old.id == new.id ? old.id : new.id))
    #expect(try without.verify().problems == [] && without.verify().unavailableCount == 2)
  }

  @Test func aGroupHasRoomFor255Keys() throws {
    let store = MemoryStore()
    _ = try Vault.throwAway(in: store, deviceKey: device(0))
    func add(_ number: UInt8) -> VaultError.Code? {
      code {
        var vault = try Vault.openThrowAway(store, deviceKey: device(number))
        try vault.add(
          Item(service: "s", account: "\(number)"), secret: Secret(count: 0), accessible: .whenUnlockedThisDevice, at: .test)
      }
    }
    for number in 0..<UInt8(253) { try #require(add(number) == nil) }
    #expect(add(253) == .vaultFull)
    #expect(try Vault.openThrowAway(store, deviceKey: device(7)).verify().isSound)
  }

  @Test func classKeyIsAddedOnce() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store, deviceKey: device(1))
    let groupRecord = try #require(store.records.keys.first)
    let before = store.records[groupRecord]
    try vault.add(Item(service: "s", account: "a"), secret: Secret(count: 0), at: .test)
    #expect(store.records[groupRecord] == before, "keys of the common classes are there from the start")
    try vault.add(Item(service: "s", account: "b"), secret: Secret(count: 0), accessible: .whenUnlockedThisDevice, at: .test)
    let extended = store.records[groupRecord]
    #expect(extended != before)
    try vault.add(Item(service: "s", account: "c"), secret: Secret(count: 0), accessible: .whenUnlockedThisDevice, at: .test)
    #expect(store.records[groupRecord] == extended)
    #expect(try vault.verify().problems == [])
  }
}
