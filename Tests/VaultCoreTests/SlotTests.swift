import CofferTesting
import Foundation
import Passphrases
import Testing

@testable import SecretMemory
@testable import VaultCore

@Suite struct SlotTests {
  func keyFile(_ byte: UInt8 = 9) throws -> Credential { try .keyFile(Secret(testing: [UInt8](repeating: byte, count: 32))) }

  func opens(_ store: MemoryStore, _ credential: borrowing Credential) -> VaultError.Code? {
    do {
      _ = try Vault.open(store, with: credential)
      return nil
    } catch { return (error as? VaultError)?.code }
  }

  @Test func slotsComeAndGo() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let added = try vault.addSlot(keyFile())
    #expect(added.index == 2)
    #expect(opens(store, try keyFile()) == nil)
    #expect(opens(store, try keyFile(8)) == .wrongCredential)
    let recovery = try vault.addRecoverySlot()
    #expect(opens(store, try .recoveryKey(recovery.duplicate())) == nil)
    try vault.removeSlot(added.id)
    #expect(opens(store, try keyFile()) == .wrongCredential)
    #expect(code { try vault.removeSlot(added.id) } == .noSuchSlot)
    // The gap is used again.
    #expect(try vault.addSlot(keyFile()).index == 2)
    #expect(try vault.verify().problems == [])
  }

  @Test func aVaultIsMadeWithTwoSlots() throws {
    let store = MemoryStore()
    let text = try RecoveryKey.random()
    let vault = try Vault.create(in: store, with: keyFile(), at: .test, second: .recoveryKey(text.duplicate()))
    #expect(try vault.generation() == 1)
    #expect(try vault.status().slots.map(\.index) == [1, 2])
    #expect(opens(store, try keyFile()) == nil)
    #expect(opens(store, try .recoveryKey(text.duplicate())) == nil)
    let empty = MemoryStore()
    let refusal = code { _ = try Vault.create(in: empty, with: keyFile(), at: .test, second: .keyFile(Secret(count: 31))) }
    #expect(refusal == .keyFileLength)
    #expect(empty.header.isEmpty)
  }

  @Test func lastSlotStays() throws {
    var vault = try Vault.throwAway()
    let id = vault.openedSlot.id
    #expect(code { try vault.removeSlot(id) } == .lastSlot)
  }

  @Test func eightSlotsAreTheMost() throws {
    var vault = try Vault.throwAway()
    for number in 2...8 { try vault.addSlot(keyFile(UInt8(number))) }
    #expect(code { try vault.addSlot(keyFile(99)) } == .slotsFull)
  }

  @Test func replacedCredentialOpensNoMore() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let reference = try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "kept"), at: .test)
    let records = store.records
    try vault.replaceSlot(vault.openedSlot.id, with: keyFile())
    #expect(store.records == records, "no item is sealed anew")
    #expect(opens(store, try .throwAway()) == .wrongCredential)
    let reopened = try Vault.open(store, with: keyFile())
    #expect(try bytes(of: reference, in: reopened) == Array("kept".utf8))
    #expect(reopened.openedSlot == vault.openedSlot)
  }

  @Test func passphraseAndKeyFileNeedEachOther() throws {
    let store = MemoryStore()
    func both(_ passphrase: String, _ byte: UInt8) throws -> Credential {
      try .passphrase(Secret(testing: passphrase), andKeyFile: Secret(testing: [UInt8](repeating: byte, count: 32)))
    }
    _ = try Vault.create(in: store, with: both("p\u{E4}ss", 1), kdf: .lowMemory, at: .test)
    #expect(opens(store, try both("pa\u{308}ss", 1)) == nil)
    #expect(opens(store, try both("p\u{E4}ss", 2)) == .wrongCredential)
    #expect(opens(store, try both("pass", 1)) == .wrongCredential)
    #expect(opens(store, try .passphrase(Secret(testing: "p\u{E4}ss"))) == .noSuchSlot)
    #expect(opens(store, try keyFile(1)) == .noSuchSlot)
  }

  @Test func passphraseOpensAndChanges() throws {
    let store = MemoryStore()
    var vault = try Vault.create(in: store, with: .passphrase(Secret(testing: "one")), kdf: .lowMemory, at: .test)
    #expect(vault.openedSlot.kdf == .lowMemory)
    try vault.replaceSlot(vault.openedSlot.id, with: .passphrase(Secret(testing: "two")), kdf: .lowMemory)
    #expect(opens(store, try .passphrase(Secret(testing: "one"))) == .wrongCredential)
    #expect(opens(store, try .passphrase(Secret(testing: "two"))) == nil)
  }

  @Test(arguments: [
    ("", VaultError.Code.passphraseLength), (String(repeating: "x", count: 4097), .passphraseLength),
    ("\u{378}", .passphraseNotText),
  ])
  func badPassphrasesMakeNoVault(passphrase: String, expected: VaultError.Code) throws {
    let store = MemoryStore()
    let refusal = code {
      _ = try Vault.create(in: store, with: .passphrase(Secret(testing: passphrase)), kdf: .lowMemory, at: .test)
    }
    #expect(refusal == expected)
    #expect(store.header.isEmpty)
  }

  @Test(
    arguments: [
      [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF5, 0x80, 0x80, 0x80], [0x80], [0xC3, 0x29], [0xC3, 0xC3],
      [0xE0, 0x82, 0xA9], [0xF0, 0x82, 0x82, 0xAC], [0xE2, 0x28, 0xA1], [0xF4, 0x90, 0x80, 0x80],
    ] as [[UInt8]])
  func passphraseThatIsNotUTF8IsRefused(bytes: [UInt8]) {
    #expect(code { _ = try Credential.passphrase(Secret(testing: bytes)) } == .passphraseNotText)
  }

  @Test(arguments: [0, 31, (1 << 20) + 1]) func keyFileOfWrongLengthIsRefused(count: Int) {
    let refusal = code {
      _ = try Vault.create(in: MemoryStore(), with: .keyFile(Secret(testing: [UInt8](repeating: 1, count: count))), at: .test)
    }
    #expect(refusal == .keyFileLength)
  }

  @Test func kdfFloorHolds() {
    #expect(code { _ = try KDFParameters(iterations: 2, memoryKiB: 1 << 20) } == .kdfBelowFloor)
    #expect(code { _ = try KDFParameters(iterations: 3, memoryKiB: 65_535) } == .kdfBelowFloor)
    #expect(code { _ = try KDFParameters(iterations: 0, memoryKiB: 0) } == .kdfBelowFloor)
    #expect(code { _ = try KDFParameters(iterations: 3, memoryKiB: 65_536) } == nil)
    #expect(KDFParameters.standard.iterations == 3 && KDFParameters.standard.memoryKiB == 262_144)
    #expect(KDFParameters.floor.iterations == 3 && KDFParameters.floor.memoryKiB == 65_536)
  }

  /// The parameters in the file when a slot is tried; an attacker who can write the file has changed them.
  @Test(arguments: [
    (4, 2, VaultError.Code.kdfBelowFloor), (8, 1, .kdfBelowFloor), (4, 65, .kdfAboveCeiling), (8, 5 << 20, .kdfAboveCeiling),
    (12, 2, .slotMalformed), (0, 0, .unknownSlotType),
  ])
  func parametersOfTheFileAreBounded(offset: Int, value: Int, expected: VaultError.Code) throws {
    let store = MemoryStore()
    _ = try Vault.create(in: store, with: .passphrase(Secret(testing: "one")), kdf: .lowMemory, at: .test)
    var bytes: [UInt8] = []
    bytes.append(littleEndian: UInt32(value))
    if offset == 0 { bytes = [0, 1, 0, 0] }
    store.header[1]?.replaceSubrange(offset..<offset + 4, with: bytes)
    #expect(opens(store, try .passphrase(Secret(testing: "one"))) == expected)
  }

  /// Rows that no container hands over, and parameters that another check covers as a rule.
  @Test func everyByteOfASlotIsChecked() throws {
    let passphrase = MemoryStore()
    _ = try Vault.create(in: passphrase, with: .passphrase(Secret(testing: "one")), kdf: .lowMemory, at: .test)
    var bytes = try #require(passphrase.header[1])
    #expect(code { _ = try KeySlot(index: 1, parsing: bytes) } == nil)
    // A passphrase that claims to need no derivation.
    (bytes[1], bytes[12]) = (0, 0)
    #expect(code { _ = try KeySlot(index: 1, parsing: bytes) } == .slotMalformed)
    // A longer extension than there may be.
    for (count, expected) in [(4096, nil), (4097, VaultError.Code.slotMalformed)] {
      var external: [UInt8] = [5] + [UInt8](repeating: 0, count: 47)
      external.append(littleEndian: UInt32(count))
      external += [UInt8](repeating: 0, count: 108 + count)
      #expect(code { _ = try KeySlot(index: 1, parsing: external) } == expected)
    }
  }

  @Test func ringHasOneShape() throws {
    let store = MemoryStore()
    _ = try Vault.throwAway(in: store)
    // In the first generation there is none, not even an empty one.
    store.header[9] = []
    #expect(opens(store, try .throwAway()) == .slotsForged)
    store.header[9] = [UInt8](repeating: 0, count: 65 * 32)
    #expect(code { _ = try Vault.inspect(store) } == .slotsForged)
    store.header[9] = [UInt8](repeating: 0, count: 64 * 32)
    #expect(code { _ = try Vault.inspect(store) } == nil)
  }

  @Test func ceilingIsSettable() throws {
    let store = MemoryStore()
    _ = try Vault.create(in: store, with: .passphrase(Secret(testing: "one")), kdf: .lowMemory, at: .test)
    let ceiling = KDFCeiling(iterations: 64, memoryKiB: 65_535)
    #expect(code { _ = try Vault.open(store, with: .passphrase(Secret(testing: "one")), ceiling: ceiling) } == .kdfAboveCeiling)
  }

  @Test func slotAboveTheCeilingDoesNotHideAnother() throws {
    let store = MemoryStore()
    var vault = try Vault.create(
      in: store, with: .passphrase(Secret(testing: "one")), kdf: KDFParameters(iterations: 3, memoryKiB: 70_000), at: .test)
    try vault.addSlot(.passphrase(Secret(testing: "two")), kdf: .lowMemory)
    let ceiling = KDFCeiling(iterations: 64, memoryKiB: 65_536)
    let opened = try Vault.open(store, with: .passphrase(Secret(testing: "two")), ceiling: ceiling)
    #expect(opened.openedSlot.index == 2)
    #expect(code { _ = try Vault.open(store, with: .passphrase(Secret(testing: "one")), ceiling: ceiling) } == .kdfAboveCeiling)
  }

  /// A slot for which there is not enough memory is passed over like one above the ceiling. In a process of its own, with little room.
  @Test(.enabled(if: SecretTests.locksForReal, "the address sanitizer needs all the room there is"))
  func slotThatNeedsTooMuchMemoryDoesNotHideAnother() async {
    await #expect(processExitsWith: .success) {
      let store = MemoryStore()
      var vault = try Vault.create(in: store, with: .passphrase(Secret(testing: "one")), kdf: .lowMemory, at: .test)
      try vault.addSlot(.passphrase(Secret(testing: "two")), kdf: .lowMemory)
      store.header[1]?.replaceSubrange(8..<12, with: [0, 0, 0, 16])  // 256 GiB
      var room = rlimit(rlim_cur: 16 << 30, rlim_max: 16 << 30)
      guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &room) == 0 else { exit(1) }
      let ceiling = KDFCeiling(iterations: .max, memoryKiB: .max)
      guard code({ _ = try Vault.open(store, with: .passphrase(Secret(testing: "one")), ceiling: ceiling) }) == .outOfMemory
      else {
        exit(2)
      }
      // The second slot is reached; only then does it show that the first was changed.
      guard code({ _ = try Vault.open(store, with: .passphrase(Secret(testing: "two")), ceiling: ceiling) }) == .slotsForged
      else {
        exit(3)
      }
    }
  }

  /// The commitment is right and the box is not: somebody has changed the slot, and the next one is not tried.
  @Test func aDamagedSlotEndsTheSearch() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    try vault.addSlot(.throwAway())
    store.header[1]?[120] ^= 1
    #expect(code { _ = try Vault.openThrowAway(store) } == .slotDamaged)
  }

  @Test func slipsInARecoveryKeyAreNoticed() throws {
    var vault = try Vault.throwAway()
    let text = try vault.addRecoverySlot().copyIntoUnprotectedBytes()
    #expect(text.count == 63)
    #expect(text.indices.filter { text[$0] == 0x2D } == [7, 15, 23, 31, 39, 47, 55])
    func parse(_ bytes: [UInt8]) -> VaultError.Code? { code { _ = try RecoveryKey.parse(Secret(testing: bytes)) } }
    #expect(parse(text) == nil)
    #expect(parse(String(decoding: text, as: UTF8.self).lowercased().replacing("-", with: " ").utf8.map { $0 }) == nil)
    for index in text.indices where text[index] != 0x2D {
      var slip = text
      slip[index] = slip[index] == 0x41 ? 0x42 : 0x41
      #expect(parse(slip) == .recoveryKeyMalformed)
    }
    #expect(parse(Array(text.dropLast())) == .recoveryKeyMalformed)
    #expect(parse(text + [0x41]) == .recoveryKeyMalformed)
    #expect(parse(Array("0".utf8) + text.dropFirst()) == .recoveryKeyMalformed)
    #expect(parse([]) == .recoveryKeyMalformed)
  }

  @Test func vaultIsNotMadeOverAnother() throws {
    let store = MemoryStore()
    _ = try Vault.throwAway(in: store)
    let before = store.header
    #expect(code { _ = try Vault.throwAway(in: store) } == .vaultExists)
    #expect(store.header == before)
  }
}
