import CofferTesting
import Passphrases
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// New master keys and new keys of groups.
@Suite struct RotationTests {
  let store = MemoryStore()
  let team: AccessGroup

  init() throws { team = try AccessGroup("team") }

  private func filled(_ count: Int, anchor: (any AnchorStore)? = nil) throws -> Vault {
    var vault = try Vault.throwAway(in: store, anchor: anchor)
    try vault.createGroup(team, at: .test)
    try vault.transaction { transaction in
      for number in 0..<count {
        try transaction.add(
          Item(service: "s", account: "\(number)"), secret: Secret(testing: "secret \(number)"),
          to: number % 2 == 0 ? .standard : AccessGroup("team"), at: .test)
      }
    }
    if count > 0 {
      let first = try #require(try vault.entry(Item(service: "s", account: "0")))
      try vault.update(first.reference, secret: Secret(testing: "newer"), at: .test)
      let removed = try vault.add(Item(service: "s", account: "removed"), secret: Secret(testing: "gone"), at: .test)
      try vault.remove(removed, at: .test)
    }
    var limits = Limits()
    try limits.set(.idleMinutes, to: 3)
    let set = limits
    try vault.transaction { try $0.setLimits(set) }
    return vault
  }

  /// Each secret by group, name and version.
  private func content(_ vault: borrowing Vault) throws -> [String: [UInt8]] {
    var content: [String: [UInt8]] = [:]
    func note(_ history: ItemHistory) throws {
      for number in [history.entry.version] + history.former.map(\.number) {
        let name = "\(history.entry.reference.group) \(history.entry.item["account"] ?? "") \(number)"
        content[name] = try vault.secret(of: history.entry.reference, version: number).copyIntoUnprotectedBytes()
      }
    }
    for entry in try vault.entries().entries { try note(vault.history(of: entry.reference)) }
    for history in try vault.removedItems() { try note(history) }
    return content
  }

  private func rotate(_ vault: inout Vault) throws {
    try vault.renewMasterKey()
    try vault.rekey(vault.groups())
  }

  @Test(arguments: [0, 2, 600]) func everythingIsThereAfterwards(count: Int) throws {
    var vault = try filled(count)
    let before = try content(vault)
    try rotate(&vault)
    #expect(try content(vault) == before)
    #expect(try vault.verify().problems == [])
    #expect(try vault.unfinishedRekeys() == [] && vault.status().masterEpoch == 2)
    let reopened = try Vault.openThrowAway(store)
    #expect(try content(reopened) == before)
    #expect(try reopened.limits().value(.idleMinutes) == 3)
    try vault.add(Item(service: "s", account: "later"), secret: Secret(testing: "x"), at: .test)
    #expect(try vault.verify().problems == [])
  }

  /// No row, and no slot, of the file opens under a key from before.
  @Test func nothingOpensUnderAnOldKey() throws {
    var vault = try filled(20)
    let oldKeys = vault.keys
    let oldGroups = try vault.reading { state, _ in try GroupDirectory(state).all }
    try rotate(&vault)
    #expect(code { _ = try ProvenState(proving: store, keys: oldKeys) } == .headerForged)
    for record in store.records.values {
      let sealed = record.head
      let meta = try RecordMeta(parsing: sealed, header: SealedHeader(reading: store).header)
      let seal = RecordSeal(vault: oldKeys.vault, id: record.id, group: record.group, meta: meta)
      guard !meta.kind.isSystem else {
        #expect(code { _ = try oldKeys.openSystem(.attributes, sealed.attributes, of: sealed, meta: meta) } == .sealBroken)
        continue
      }
      for group in oldGroups {
        for (accessibility, epoch) in group.keyNames {
          let key = try group.key(accessibility, epoch: epoch, keys: oldKeys)
          #expect(code { _ = try seal.open(.attributes, sealed.attributes, with: key) } == .sealBroken)
          #expect(code { _ = try seal.open(.secret, record.secret, with: key) } == .sealBroken)
        }
      }
    }
    // The control: the present keys open them.
    #expect(try vault.verify().isSound)
  }

  /// A rotation that ends after its first commit has not replaced the keys of a group, and the vault says so.
  @Test func theMasterKeyBeginsTheRekeyOfItsGroups() throws {
    var vault = try filled(4)
    let before = try content(vault)
    var renewal = try MasterKeyRenewal(of: vault.status())
    try renewal.seal(vault.openedSlot, under: .throwAway(), kdf: .floor)
    try renewal.commit(to: &vault, replacing: [team])
    #expect(try vault.unfinishedRekeys().map(\.group) == [team])
    #expect(try content(vault) == before)
    try vault.rekey([team])
    #expect(try vault.unfinishedRekeys() == [] && content(vault) == before)
    let groups = try vault.reading { state, _ in try GroupDirectory(state).all }
    for group in groups { #expect(group.keyNames.map(\.epoch) == (group.group == team ? [2, 2] : [1, 1])) }
  }

  @Test func anotherProgramHearsOfTheNewMasterKey() throws {
    var vault = try filled(2)
    var other = try Vault.openThrowAway(store)
    _ = try other.entries()
    try vault.renewMasterKey()
    #expect(code { _ = try other.entries() } == .masterKeyChanged)
    let isLocked = other.isLocked
    #expect(isLocked)
    #expect(code { try other.createGroup(AccessGroup("x"), at: .test) } == .masterKeyChanged)
    #expect(code { _ = try other.groups() } == .masterKeyChanged)
    #expect(try Vault.openThrowAway(store).entries().entries.count == 2)
  }

  /// A forged header is no new master key, whatever its number.
  @Test func aForgedHeaderOfTheSameEpochIsForged() throws {
    _ = try filled(0)
    let other = try Vault.openThrowAway(store)
    store.header[0]?[230] ^= 1
    #expect(code { _ = try other.groups() } == .headerForged)
  }

  @Test func anInterruptedRekeyGoesOn() throws {
    var vault = try filled(1100)
    let before = try content(vault)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try vault.rekey([.standard], rowsPerCommit: 300...4096) { done, _ in if done >= 500 { throw Stop() } }
    }
    let unfinished = try vault.unfinishedRekeys()
    #expect(unfinished.map(\.group) == [.standard] && unfinished.allSatisfy { $0.done >= 250 && $0.done < $0.total })
    #expect(try vault.groupContents().compactMap(\.rekey) == unfinished)
    #expect(try content(vault) == before && vault.verify().problems == [])
    // New items are under the new key.
    try vault.add(Item(service: "s", account: "meanwhile"), secret: Secret(testing: "x"), at: .test)
    var reopened = try Vault.openThrowAway(store)
    try reopened.rekey([.standard])
    #expect(try reopened.unfinishedRekeys() == [] && reopened.verify().problems == [])
    #expect(try content(reopened).count == before.count + 1)
  }

  /// Rows that a re-key had sealed before it was interrupted are under keys that a copy from that time yields to a leaked passphrase.
  @Test func whatAnInterruptedRekeyHasSealedIsSealedAnew() throws {
    var vault = try filled(20)
    let before = try content(vault)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try vault.rekey([.standard], rowsPerCommit: 1...1) { done, _ in if done > 5 { throw Stop() } }
    }
    let rows = store.records
    try rotate(&vault)
    #expect(store.records.allSatisfy { rows[$0.key]?.secret != $0.value.secret })
    #expect(try content(vault) == before && vault.verify().problems == [] && vault.unfinishedRekeys() == [])
  }

  /// Its row has another group as long as the re-key reads it. Not proven, it would keep its key, and that goes.
  @Test func aRowThatHidesItsGroupStopsTheRekey() throws {
    var vault = try filled(4)
    let before = try content(vault)
    func row(_ account: String, _ group: AccessGroup) throws -> Identifier {
      try #require(try vault.entry(Item(service: "s", account: account), in: group)).reference.id
    }
    let (own, other) = (try row("0", .standard), try row("1", team))
    let record = try #require(store.records[own])
    var parts = TamperTests.SealedRecordParts(record)
    parts.group = try #require(store.records[other]).head.group
    store.records[own] = parts.record(own)
    #expect(code { try vault.rekey([.standard]) } == .recordForged)
    store.records[own] = record
    #expect(try vault.unfinishedRekeys().map(\.group) == [.standard] && content(vault) == before)
  }

  /// Memory is bounded: a commit takes so many rows, also of those that begin with the same byte.
  @Test(arguments: [1...1, 1...3, 500...500] as [ClosedRange<UInt64>])
  func aCommitHasItsLimits(rowsPerCommit: ClosedRange<UInt64>) throws {
    var vault = try filled(rowsPerCommit.upperBound < 500 ? 300 : 1100)
    let before = try content(vault)
    var steps: [(UInt64, UInt64)] = []
    var most = 0
    var last = store.records
    try vault.rekey([.standard], rowsPerCommit: rowsPerCommit) {
      steps.append(($0, $1))
      most = max(most, store.records.count { $0.value.head.attributes != last[$0.key]?.head.attributes })
      last = store.records
    }
    // With one record of the group itself, which loses its old keys.
    #expect((1...Int(rowsPerCommit.upperBound) + 1).contains(most), "\(most)")
    #expect(try content(vault) == before && vault.verify().problems == [] && vault.unfinishedRekeys() == [])
    #expect(steps.last.map { $0.0 == $0.1 } ?? false && zip(steps, steps.dropFirst()).allSatisfy { $0.0 <= $1.0 }, "\(steps)")
  }

  /// One pass for any number of them.
  @Test func groupsGetNewKeysTogether() throws {
    var vault = try filled(1100)
    let before = try content(vault)
    let generation = try vault.generation()
    let epochs = { (vault: borrowing Vault) in
      try vault.reading { state, _ in try GroupDirectory(state).all.flatMap { $0.keyNames.map(\.epoch) } }
    }
    try vault.rekey([team, .standard, team])
    #expect(try epochs(vault).allSatisfy { $0 == 2 })
    #expect(try content(vault) == before && vault.verify().problems == [] && vault.unfinishedRekeys() == [])
    // One that adds keys, then 1,000 rows or more in each but the last.
    #expect(try (3...4).contains(vault.generation() - generation))
  }

  @Test(arguments: [true, false]) func aGroupThatIsRenamedOrRemovedMeanwhileStopsNothing(isRenamed: Bool) throws {
    var vault = try filled(20)
    let crew = try AccessGroup("crew")
    var isDone = false
    try vault.rekey([team, .standard], rowsPerCommit: 1...1) { done, _ in
      guard done > 5, !isDone else { return }
      isDone = true
      var other = try Vault.openThrowAway(store)
      if isRenamed { try other.renameGroup(team, to: crew) } else { try other.removeGroup(team, withItems: true) }
    }
    #expect(try isDone && vault.groups() == (isRenamed ? [crew, .standard] : [.standard]))
    #expect(try vault.verify().problems == [] && vault.unfinishedRekeys() == [])
  }

  /// A row under a key that is replaced comes back behind the walk, as by a program that had read the group before. It is sealed anew, too.
  @Test(arguments: [2, 700]) func aRowThatComesBackKeepsItsKeyUntilItIsSealedAnew(count: Int) throws {
    var vault = try filled(count)
    let before = try content(vault)
    let isItem = { (id: Identifier) in (1...0x7F).contains(id.byte(at: 0)) }
    let some = try #require(try vault.entry(Item(service: "s", account: "0"))).reference.id
    let group = try #require(store.records[some]).head.group
    let id = try #require(store.records.filter { isItem($0.key) && $0.value.head.group == group }.keys.min())
    let old = try #require(store.records[id])
    var isBack = false
    try vault.rekey([.standard], rowsPerCommit: 1...500) { _, _ in
      guard !isBack, store.records[id]?.head.attributes != old.head.attributes else { return }
      isBack = true
      var other = try Vault.openThrowAway(store)
      try other.transaction { try $0.edit(id, old) }
    }
    #expect(isBack && store.records[id]?.head.attributes != old.head.attributes)
    #expect(try content(vault) == before && vault.verify().problems == [] && vault.unfinishedRekeys() == [])
  }

  /// Other programs write between two commits: nothing of theirs is lost, and all of it is under new keys.
  @Test func whatOthersWriteMeanwhileStays() throws {
    var vault = try filled(1100)
    var before = try content(vault)
    var number = 0
    try vault.rekey([.standard]) { _, _ in
      var other = try Vault.openThrowAway(store)
      try other.add(Item(service: "m", account: "\(number)"), secret: Secret(testing: "m"), at: .test)
      let last = try #require(try other.entry(Item(service: "s", account: "\(1098 - 2 * number)")))
      try other.remove(last.reference)
      number += 1
    }
    let after = try content(vault)
    for index in 0..<number {
      before = before.filter { !$0.key.hasPrefix("default \(1098 - 2 * index) ") }
      #expect(after.contains { $0.key.hasPrefix("default \(index) ") && $0.value == Array("m".utf8) })
    }
    #expect(number > 1 && before.allSatisfy { after[$0.key] == $0.value } && after.count == before.count + number)
    #expect(try vault.verify().problems == [] && vault.unfinishedRekeys() == [])
  }

  @Test func itemsOfOtherDevicesKeepTheirKey() throws {
    func device(_ byte: UInt8) throws -> Secret { try Secret(testing: [UInt8](repeating: byte, count: 32)) }
    var vault = try Vault.throwAway(in: store, deviceKey: device(1))
    let item = Item(service: "s", account: "of a device")
    try vault.add(item, secret: Secret(testing: "x"), accessible: .whenUnlockedThisDevice, at: .test)
    var other = try Vault.openThrowAway(store, deviceKey: device(2))
    try other.rekey([.standard])
    #expect(try other.unfinishedRekeys() == [])
    let own = try Vault.openThrowAway(store, deviceKey: device(1))
    let reference = try #require(try own.entry(item)).reference
    #expect(try own.secret(of: reference).copyIntoUnprotectedBytes() == Array("x".utf8))
  }

  @Test func numbersOfVersionsStay() throws {
    var vault = try filled(4)
    let reference = try #require(try vault.entry(Item(service: "s", account: "0"))).reference
    let before = try vault.history(of: reference)
    try rotate(&vault)
    let after = try vault.history(of: reference)
    #expect(after.entry.version == before.entry.version && after.former == before.former)
    #expect(after.entry.generation > before.entry.generation)
  }

  @Test func aDamagedRecordStopsTheRenewalAndChangesNothing() throws {
    var vault = try filled(4)
    let id = try #require(store.records.keys.first { (1...0x7F).contains($0.byte(at: 0)) })
    let record = try #require(store.records[id])
    var parts = TamperTests.SealedRecordParts(record)
    parts.attributes[50] ^= 1
    store.records[id] = parts.record(id)
    let before = store.header
    #expect(code { try vault.renewMasterKey() } == .recordForged)
    #expect(store.header == before)
  }

  /// A node that lists items alone. Without it they would be left out of the new tree.
  @Test func aDamagedNodeStopsTheRenewalAndChangesNothing() throws {
    var vault = try filled(600)
    let prefix = try #require(store.nodes.keys.filter { $0.count == 1 && (1...0x7F).contains($0[0]) }.min { $0[0] < $1[0] })
    store.nodes[prefix]?[40] ^= 1
    let before = store.header
    #expect(code { try vault.renewMasterKey() } == .nodeForged)
    #expect(store.header == before)
  }

  /// Its text has a code point that is not assigned, and may be written in another way later.
  @Test func aCredentialThatCannotBeGivenAgainGetsNoSlot() throws {
    let vault = try filled(0)
    var renewal = try MasterKeyRenewal(of: vault.status())
    let slot = vault.openedSlot
    #expect(
      code { try renewal.seal(slot, under: .passphrase(Secret(testing: "\u{378}")), kdf: .floor) } == .passphraseNotText)
  }

  @Test func aRuleOfALaterVersionBlocksTheRenewal() throws {
    var vault = try filled(2)
    try vault.transaction { transaction in
      var attributes = Attributes()
      attributes["policy"] = .text("later")
      let id = try transaction.keys.policyID("later")
      let meta = RecordMeta(kind: .policy, accessibility: .whenUnlocked, epoch: 1, version: transaction.generation)
      try transaction.edit(
        id, try transaction.keys.sealSystemRecord(id, meta: meta, attributes: TLV.encode(attributes), secret: Secret(count: 0)))
    }
    #expect(code { try vault.renewMasterKey() } == .rotationBlocked)
    #expect(try vault.verify().isSound && vault.status().masterEpoch == 1)
  }

  @Test func slotsThatAreNotSealedAnewAreGone() throws {
    var vault = try filled(2)
    let text = try vault.addRecoverySlot()
    #expect(try Vault.open(store, with: .recoveryKey(text.duplicate())).status().slots.count == 2)
    try vault.renewMasterKey()
    #expect(try vault.status().slots.count == 1)
    #expect(code { _ = try Vault.open(store, with: .recoveryKey(text.duplicate())) } == .noSuchSlot)
  }
}

extension Transaction {
  /// A commit that changes nothing that is read.
  mutating func putLimitsAgain() throws { try setLimits(Limits()) }
}
