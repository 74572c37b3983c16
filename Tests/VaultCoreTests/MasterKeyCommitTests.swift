import CofferTesting
import Glibc
import Passphrases
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// The commit of a new master key: what ends it before anything is changed, and what is there afterwards.
@Suite struct MasterKeyCommitTests {
  private let store = MemoryStore()

  private struct Stop: Error {}

  private static func key(_ byte: UInt8) throws -> Secret { try Secret(testing: [UInt8](repeating: byte, count: 32)) }

  @discardableResult private func add(
    _ account: String, to vault: inout Vault, accessible: Accessibility = .whenUnlocked
  ) throws -> Reference {
    try vault.add(Item(service: "s", account: account), secret: Secret(testing: account), accessible: accessible, at: .test)
  }

  /// With the opened slot sealed anew.
  private func renewal(of vault: borrowing Vault) throws -> MasterKeyRenewal {
    var renewal = try MasterKeyRenewal(of: vault.status())
    try renewal.seal(vault.openedSlot, under: .throwAway(), kdf: .floor)
    return renewal
  }

  /// The error of a commit that changes nothing: neither the rows, nor the keys of the open vault.
  private func refusal(_ place: SourceLocation = #_sourceLocation, of body: () throws -> Void) -> VaultError? {
    let (header, nodes, records) = (store.header, store.nodes, store.records)
    var refusal: VaultError?
    do { try body() } catch { refusal = error as? VaultError }
    #expect(store.header == header && store.nodes == nodes && store.records == records, sourceLocation: place)
    return refusal
  }

  // MARK: Slots

  /// The vault would open with no credential any more.
  @Test func aMasterKeyWithoutASlotIsRefused() throws {
    var vault = try Vault.throwAway(in: store)
    let renewal = try MasterKeyRenewal(of: vault.status())
    #expect(refusal { try renewal.commit(to: &vault) }?.code == .lastSlot)
    #expect(try vault.verify().isSound)
  }

  @Test func itemsThatNeedAPassphraseKeepOne() throws {
    var vault = try Vault.create(
      in: store, with: .passphrase(Secret(testing: "one")), kdf: .lowMemory, at: .test, deviceKey: Self.key(1),
      second: .throwAway())
    try add("a", to: &vault, accessible: .whenPasscodeSetThisDevice)
    let slots = try vault.status().slots
    var renewal = try MasterKeyRenewal(of: vault.status())
    try renewal.seal(slots[1], under: .throwAway(), kdf: .floor)
    #expect(refusal { try renewal.commit(to: &vault, deviceKey: Self.key(1)) }?.code == .passphraseSlotMissing)
    try renewal.seal(slots[0], under: .passphrase(Secret(testing: "two")), kdf: .lowMemory)
    try renewal.commit(to: &vault, deviceKey: Self.key(1))
    #expect(try vault.verify().isSound && vault.verify().unavailableCount == 0 && vault.status().slots.count == 2)
  }

  /// Another program has replaced a slot: the credential of before does not come back, and that of the other program stays.
  @Test func aSlotThatWasReplacedMeanwhileEndsIt() throws {
    var vault = try Vault.throwAway(in: store)
    let renewal = try renewal(of: vault)
    var other = try Vault.openThrowAway(store)
    let file = [UInt8](repeating: 9, count: 64)
    try other.replaceSlot(other.openedSlot.id, with: .keyFile(Secret(testing: file)), kdf: .floor)
    #expect(refusal { try renewal.commit(to: &vault) }?.code == .noSuchSlot)
    #expect(try Vault.open(store, with: .keyFile(Secret(testing: file))).verify().isSound)
  }

  /// A second rotation by the same program knows by which slot it was opened. One that is gone is not taken for another.
  @Test func theOpenedSlotIsTheNewOne() throws {
    var vault = try Vault.throwAway(in: store)
    let before = vault.openedSlot
    try renewal(of: vault).commit(to: &vault)
    let opened = vault.openedSlot
    #expect(try [opened] == vault.status().slots && opened.id != before.id)
    #expect(try MasterKeyRenewal.opens(opened, of: store, with: .throwAway(), .standard))
    let other = Array(repeating: UInt8(9), count: 64)
    #expect(try !MasterKeyRenewal.opens(opened, of: store, with: .keyFile(Secret(testing: other)), .standard))
    #expect(code { _ = try MasterKeyRenewal.opens(before, of: store, with: .throwAway(), .standard) } == .noSuchSlot)
  }

  // MARK: The state

  /// From the commit on, the vault from before does not pass, though the program that made it goes on.
  @Test func theAnchorIsThatOfTheNewKey() throws {
    let anchors = MemoryAnchorStore()
    var vault = try Vault.throwAway(in: store, anchor: anchors)
    let before = store.copy()
    try renewal(of: vault).commit(to: &vault)
    #expect(code { _ = try Vault.openThrowAway(before, anchor: anchors) } == .anchorOtherKeys)
    #expect(try vault.status().masterEpoch == 2)
  }

  /// The tree is made anew, and is smaller if records were removed before: nodes of the old one do not stay.
  @Test func nodesOfTheOldTreeGo() throws {
    var vault = try Vault.throwAway(in: store)
    try vault.transaction { transaction in
      for number in 0..<600 {
        try transaction.add(Item(service: "s", account: "\(number)"), secret: Secret(count: 0), at: .test)
      }
    }
    let entries = try vault.entries().entries
    try vault.transaction { transaction in for entry in entries.dropFirst(5) { try transaction.remove(entry.reference) } }
    #expect(store.nodes.count > 1)
    try renewal(of: vault).commit(to: &vault)
    #expect(try vault.verify().problems == [] && store.nodes.count == 1)
  }

  /// A count that is wrong shows that a record is lost, or was added. It is not made right unseen.
  @Test(arguments: [-1, 1]) func aWrongCountStopsIt(difference: Int) throws {
    var vault = try Vault.throwAway(in: store)
    try add("a", to: &vault)
    var header = try SealedHeader(reading: store).header
    header.recordCount = UInt64(Int(header.recordCount) + difference)
    store.header[0] = header.sealed(with: vault.keys.integrity).bytes
    vault = try Vault.openThrowAway(store)
    let renewal = try renewal(of: vault)
    #expect(refusal { try renewal.commit(to: &vault) }?.code == .countMismatch)
  }

  /// Its identifier depends on the master key in a way that this version does not know. The error names the record.
  @Test(arguments: [RecordKind.alias, .accessRule, .policy]) func aRecordOfALaterVersionStopsIt(kind: RecordKind) throws {
    var vault = try Vault.throwAway(in: store)
    let id = try vault.transaction { transaction in
      var attributes = Attributes()
      for name in ["rule", "policy"] { attributes[name] = .text("later") }
      let id = try transaction.keys.policyID("later")
      let meta = RecordMeta(kind: kind, accessibility: .whenUnlocked, epoch: 1, version: transaction.generation)
      try transaction.edit(
        id, transaction.keys.sealSystemRecord(id, meta: meta, attributes: TLV.encode(attributes), secret: Secret(count: 0)))
      return id
    }
    let renewal = try renewal(of: vault)
    let refusal = refusal { try renewal.commit(to: &vault) }
    #expect(refusal?.code == .rotationBlocked && refusal?.detail.hasPrefix("\(id)") == true, "\(refusal as Any)")
    #expect(try vault.verify().isSound)
  }

  /// A holder of a leaked passphrase may have written the last one.
  @Test func theLastNumberOfAMasterKeyIsAnError() throws {
    var vault = try Vault.throwAway(in: store)
    try vault.transaction { transaction in
      for group in try GroupDirectory(transaction.state).all {
        let record = try transaction.keys.seal(group, masterEpoch: .max)
        try transaction.edit(record.head.id, record)
      }
    }
    var header = try SealedHeader(reading: store).header
    header.masterEpoch = .max
    store.header[0] = header.sealed(with: vault.keys.integrity).bytes
    vault = try Vault.openThrowAway(store)
    let renewal = try renewal(of: vault)
    #expect(refusal { try renewal.commit(to: &vault) }?.code == .vaultFull)
  }

  // MARK: Groups

  /// The keys that it has added were under the master key of before: a copy from that time yields them to a leaked passphrase.
  @Test(arguments: [true, false]) func anUnfinishedRekeyIsBegunAnew(isNamed: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    try add("a", to: &vault)
    #expect(throws: Stop.self) { try vault.rekey([.standard], rowsPerCommit: 1...1) { _, _ in throw Stop() } }
    try renewal(of: vault).commit(to: &vault, replacing: isNamed ? [.standard] : [])
    func epochs() throws -> [UInt32] { try vault.reading { state, _ in try GroupDirectory(state).all[0].keyNames.map(\.epoch) } }
    #expect(try epochs() == [1, 2, 3, 1, 2, 3])
    try vault.rekey([.standard])
    #expect(try epochs() == [3, 3] && vault.verify().problems == [])
  }

  /// Groups that another program has made since the renewal began are among them.
  @Test func allGroupsThatAreThereAreReplaced() throws {
    var vault = try Vault.throwAway(in: store)
    let renewal = try renewal(of: vault)
    try vault.createGroup(AccessGroup("late"), at: .test)
    try renewal.commit(to: &vault, replacing: nil)
    #expect(try vault.unfinishedRekeys().map(\.group.name) == ["default", "late"])
  }

  /// The keys of this device that are being replaced go at the end of the re-key, as the others do.
  @Test func aKeyOfThisDeviceThatIsReplacedStaysOne() throws {
    var vault = try Vault.throwAway(in: store, deviceKey: Self.key(1))
    try add("a", to: &vault, accessible: .whenUnlockedThisDevice)
    #expect(throws: Stop.self) { try vault.rekey([.standard], rowsPerCommit: 1...1) { _, _ in throw Stop() } }
    try renewal(of: vault).commit(to: &vault, deviceKey: Self.key(2))
    try vault.rekey([.standard])
    let names = try vault.reading { state, _ in try GroupDirectory(state).all[0].keyNames }
    #expect(names.map(\.epoch) == [3, 3, 3] && names.contains { $0.accessibility == .whenUnlockedThisDevice })
    #expect(try vault.verify().problems == [] && vault.verify().unavailableCount == 0)
  }

  /// Without a key of this device its items would be lost.
  @Test func keysOfThisDeviceAreNotDropped() throws {
    var vault = try Vault.throwAway(in: store, deviceKey: Self.key(1))
    try add("a", to: &vault, accessible: .whenUnlockedThisDevice)
    let renewal = try renewal(of: vault)
    #expect(refusal { try renewal.commit(to: &vault) }?.code == .deviceKeyMissing)
    #expect(try vault.verify().unavailableCount == 0)
  }

  /// Memory that cannot be locked says nothing about a box: a key in force would be taken for another one, and removed. In a process of
  /// its own, which may lock no more memory, and has used up what it has.
  @Test(.enabled(if: SecretTests.locksForReal, "the address sanitizer locks nothing"))
  func aBoxIsNotOfAnotherDeviceBecauseMemoryCannotBeLocked() async {
    await #expect(processExitsWith: .success) {
      final class Held {
        let secret: Secret
        init() throws { secret = try Secret(count: 32) }
      }
      var vault = try Vault.throwAway(deviceKey: MasterKeyCommitTests.key(1))
      try vault.add(
        Item(service: "s", account: "a"), secret: Secret(count: 0), accessible: .whenUnlockedThisDevice, at: .test)
      let (group, keys) = try vault.reading { state, _ in (try GroupDirectory(state).all[0], state.keys) }
      guard try group.opensBoxes(keys) else { exit(1) }
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      guard unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none) == 0 else { exit(2) }
      // The superuser may lock without limit.
      guard geteuid() != 0 || setuid(65_534) == 0 else { exit(3) }
      var held: [Held] = []
      while let more = try? Held() { held.append(more) }
      guard code({ _ = try group.opensBoxes(keys) }) == .memoryNotLockable else { exit(4) }
      guard held.removeLast().secret.count == 32 else { exit(5) }
    }
  }
}
