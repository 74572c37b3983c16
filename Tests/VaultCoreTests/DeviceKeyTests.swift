import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// A new key of this device, in the commit of a new master key.
@Suite struct DeviceKeyTests {
  let store = MemoryStore()
  let classes = Accessibility.allCases.filter { $0 != .whenPasscodeSetThisDevice }

  private func device(_ byte: UInt8) throws -> Secret { try Secret(testing: [UInt8](repeating: byte, count: 32)) }

  /// An item of each class in two groups, by the device 1.
  private func filled() throws -> Vault {
    var vault = try Vault.throwAway(in: store, deviceKey: device(1))
    let team = try AccessGroup("team")
    try vault.createGroup(team, at: .test)
    for group in [.standard, team] {
      for accessible in classes {
        try vault.add(
          Item(service: "s", account: "\(accessible)"), secret: Secret(testing: "\(accessible)"), to: group,
          accessible: accessible, at: .test)
      }
    }
    return vault
  }

  private func renew(_ vault: inout Vault, _ deviceKey: consuming Secret?, replacing groups: [AccessGroup] = []) throws {
    var renewal = try MasterKeyRenewal(of: vault.status())
    try renewal.seal(vault.openedSlot, under: .throwAway(), kdf: .floor)
    try renewal.commit(to: &vault, deviceKey: deviceKey, replacing: groups)
  }

  private func expectAllOpen(_ items: [Reference], _ vault: borrowing Vault, _ place: SourceLocation = #_sourceLocation) throws {
    for item in items {
      let accessible = try vault.entry(item).accessibility
      #expect(try bytes(of: item, in: vault) == Array("\(accessible)".utf8), sourceLocation: place)
    }
    #expect(try vault.verify().problems == [] && vault.verify().unavailableCount == 0, sourceLocation: place)
  }

  @Test(arguments: [false, true]) func boxesOpenUnderTheNewKeyAlone(withNewKeysOfGroups: Bool) throws {
    var vault = try filled()
    let items = try vault.entries().entries.map(\.reference)
    try renew(&vault, device(2), replacing: withNewKeysOfGroups ? vault.groups() : [])
    try expectAllOpen(items, vault)
    if withNewKeysOfGroups { try vault.rekey(vault.groups()) }
    try expectAllOpen(items, vault)
    try expectAllOpen(items, Vault.openThrowAway(store, deviceKey: device(2)))
    let former = try Vault.openThrowAway(store, deviceKey: device(1))
    for item in items {
      let accessible = try vault.entry(item).accessibility
      #expect(code { _ = try former.secret(of: item) } == (accessible.isThisDeviceOnly ? .wrongDeviceKey : nil))
    }
    #expect(try former.verify().isSound)
  }

  /// With the same device key everything stays as it is.
  @Test func theSameKeyOpensTheNewBoxes() throws {
    var vault = try filled()
    let items = try vault.entries().entries.map(\.reference)
    try renew(&vault, device(1))
    try expectAllOpen(items, Vault.openThrowAway(store, deviceKey: device(1)))
  }

  @Test func boxesOfOtherDevicesStay() throws {
    var vault = try filled()
    let items = try vault.entries().entries.map(\.reference)
    var second = try Vault.openThrowAway(store, deviceKey: device(9))
    let theirs = try second.add(
      Item(service: "s", account: "second"), secret: Secret(testing: "theirs"), accessible: .whenUnlockedThisDevice, at: .test)
    try renew(&vault, device(2))
    #expect(try bytes(of: theirs, in: Vault.openThrowAway(store, deviceKey: device(9))) == Array("theirs".utf8))
    let here = try Vault.openThrowAway(store, deviceKey: device(2))
    #expect(code { _ = try here.secret(of: theirs) } == .wrongDeviceKey)
    for item in items { _ = try here.secret(of: item) }
  }

  /// The class keys would be lost.
  @Test func withoutANewKeyNothingIsChanged() throws {
    var vault = try filled()
    let items = try vault.entries().entries.map(\.reference)
    let before = try vault.generation()
    let refusal = code { try renew(&vault, nil) }
    #expect(refusal == .deviceKeyMissing)
    #expect(try vault.generation() == before)
    try expectAllOpen(items, vault)
  }

  @Test func aProgramWithTheKeyOfBeforeWritesNothing() throws {
    var vault = try filled()
    var other = try Vault.openThrowAway(store, deviceKey: device(1))
    try renew(&vault, device(2))
    let refusal = code {
      try other.add(
        Item(service: "s", account: "late"), secret: Secret(count: 0), to: AccessGroup("team"),
        accessible: .afterFirstUnlockThisDevice, at: .test)
    }
    #expect(refusal == .masterKeyChanged)
    let isLocked = other.isLocked
    #expect(isLocked)
    #expect(try vault.verify().unavailableCount == 0)
  }

  /// A re-key that was interrupted before the rotation of the device key goes on after it.
  @Test func marksStay() throws {
    var vault = try filled()
    let items = try vault.entries().entries.map(\.reference)
    struct Stop: Error {}
    #expect(throws: Stop.self) { try vault.rekey([.standard], rowsPerCommit: 1...1) { _, _ in throw Stop() } }
    try renew(&vault, device(2))
    #expect(try vault.unfinishedRekeys().map(\.group) == [.standard])
    try expectAllOpen(items, vault)
    try vault.rekey([.standard])
    try expectAllOpen(items, Vault.openThrowAway(store, deviceKey: device(2)))
  }
}
