import AccessRights
import CofferLifecycle
import CofferRequests
import CofferTesting
import Passphrases
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@testable import CofferWire

/// Requests to the system agent only.
@Suite struct OwnerCallTests {
  private static func arrived(_ request: consuming Request) throws -> Request {
    try Received(request.frame(request: 1)).request()
  }

  private func text(_ secret: borrowing Secret) -> String { WireTests.text(secret) }

  /// With a salt of its own.
  private static func derived(_ letter: Character, _ type: SlotType) throws -> Credential {
    try .derived(Secret(testing: String(repeating: letter, count: 32)), type, salt: salt(letter))
  }

  private static func salt(_ letter: Character) -> [UInt8] { [UInt8](repeating: letter.asciiValue ?? 0, count: 16) }

  @Test func credentialsArriveApart() throws {
    let id = Identifier([UInt8](repeating: 7, count: 16))!
    let proof = try Self.derived("o", .passphraseAndKeyFile)
    guard
      case .vault(.replaceSlot(let slot, let credential, let kdf, let by)) = try Self.arrived(
        .vault(.replaceSlot(id, Self.derived("n", .passphrase), .lowMemory, by: proof)))
    else {
      Issue.record("another call")
      return
    }
    #expect(slot == id && kdf == .lowMemory)
    #expect(credential.slotType == .passphrase && credential.salt == Self.salt("n"))
    #expect(text(credential.text) == String(repeating: "n", count: 32))
    #expect(by.slotType == .passphraseAndKeyFile && by.salt == Self.salt("o"))
    #expect(text(by.text) == String(repeating: "o", count: 32))
    guard
      case .vault(.create(let made, _, let recovery)) = try Self.arrived(
        .vault(
          .create(Self.derived("k", .keyFile), .standard, recovery: Self.derived("r", .recoveryKey))))
    else {
      Issue.record("another call")
      return
    }
    let second = if let recovery { text(recovery.text) } else { "" }
    #expect(made.slotType == .keyFile && second == String(repeating: "r", count: 32))
  }

  /// A client derives a key from the agent's description of a slot.
  @Test func aSlotHasASaltOf16Bytes() throws {
    let store = MemoryStore()
    _ = try Vault.create(in: store, with: .keyFile(Secret(count: 32)), at: .test)
    let status = try Vault.inspect(store)
    #expect(try VaultSummary(wireRows: status.wireRows()).slots == status.slots)
    for count in [0, 15, 17] {
      var rows = status.wireRows()
      rows[1]["salt"] = .data([UInt8](repeating: 1, count: count))
      #expect(throws: WireError.self) { _ = try VaultSummary(wireRows: rows) }
    }
  }

  @Test func theStateOfBackupsArrives() throws {
    let store = MemoryStore()
    _ = try Vault.create(in: store, with: .keyFile(Secret(count: 32)), at: .test)
    let status = try Vault.inspect(store)
    #expect(try VaultSummary(wireRows: status.wireRows()).backups == nil)
    var backups = BackupState()
    #expect(try VaultSummary(wireRows: status.wireRows(backups: backups)).backups == backups)
    (backups.newest, backups.newestTime, backups.trial, backups.hasIntent) = ("/b", .test, Timestamp(secondsSince1970: 7), true)
    (backups.trialPrecedesBackups, backups.unfinishedRotations) = (true, ["/c", "/d"])
    backups.newestHasOlderKeys = true
    #expect(try VaultSummary(wireRows: status.wireRows(backups: backups)).backups == backups)
  }

  /// An agent that is false may not keep a client busy with slots that no vault has.
  @Test func eachOfEightSlotsStandsOnce() throws {
    let store = MemoryStore()
    _ = try Vault.create(in: store, with: .keyFile(Secret(count: 32)), at: .test)
    let rows = try Vault.inspect(store).wireRows()
    func slot(_ index: UInt64) -> Attributes {
      var row = rows[1]
      row["index"] = .integer(index)
      return row
    }
    #expect(try VaultSummary(wireRows: rows.prefix(1) + (1...8).map(slot)).slots.count == 8)
    for indices: [UInt64] in [[1, 1], [0], [9], Array(1...9)] {
      #expect(throws: WireError(.field)) { _ = try VaultSummary(wireRows: rows.prefix(1) + indices.map(slot)) }
    }
  }

  @Test func appCallsArriveAsTheyWereSent() throws {
    let group = try AccessGroup("g")
    let calls: [AppRequest] = [
      .pins, .install([1, 2, 3]), .uninstall("a"), .itemCount("a"), .forget("a"), .grants("a"), .grants(nil), .revoke("a", group),
      .leases,
      .endLease(7), .log, .logPart(ring: "uses", first: 1, offset: 9),
      .grant("a", group, [.read, .list], asksForConfirmation: true),
    ]
    for call in calls {
      guard case .apps(let arrived) = try Self.arrived(.apps(call)) else {
        Issue.record("\(call)")
        continue
      }
      #expect(arrived == call)
    }
  }

  @Test func groupCallsArriveAsTheyWereSent() throws {
    let (group, other) = (try AccessGroup("g"), try AccessGroup("h"))
    let calls: [GroupRequest] = [
      .list, .create(group), .rename(group, to: other), .remove(group, withItemsAsOf: 7), .remove(group, withItemsAsOf: nil),
    ]
    for call in calls {
      guard case .groups(let arrived) = try Self.arrived(.groups(call)) else {
        Issue.record("\(call)")
        continue
      }
      #expect(arrived == call)
    }
    #expect(throws: WireError.self) { _ = try Request.parse(.renameGroup, Message(fields: Attributes())) }
    var contents = GroupContents(group)
    contents.itemCounts = [.whenUnlocked: 3, .whenPasscodeSetThisDevice: 1]
    contents.formerCount = 9
    contents.grantees = ["a", "unit:b.service"]
    #expect(try GroupContents(contents.attributes) == contents)
    #expect(throws: KeychainError(.agent)) { _ = try GroupContents(Attributes()) }
  }

  /// Lengths and kinds that do not fit what is there.
  @Test func inconsistentCallsAreRefused() throws {
    func refused(_ operation: Request.Kind, _ change: (inout Attributes) -> Void, count: Int = 64) throws -> Bool {
      var fields = Attributes()
      for name in ["by", "new"] {
        fields["\(name)-kind"] = .integer(UInt64(SlotType.passphrase.rawValue))
        fields["\(name)-salt"] = .data(Self.salt("s"))
      }
      fields["iterations"] = .integer(3)
      fields["memory"] = .integer(64 << 10)
      change(&fields)
      do {
        _ = try Request.parse(operation, Message(fields: fields, secret: Secret(count: count)))
        return false
      } catch { return true }
    }
    #expect(try !refused(.addSlot, { _ in }))
    for count in [0, 63, 65, 96] { #expect(try refused(.addSlot, { _ in }, count: count)) }
    // A passphrase has no salt: no agent takes it.
    for name in ["new-salt", "by-salt"] {
      #expect(try refused(.addSlot, { $0[name] = nil }))
      for count in [0, 15, 17] { #expect(try refused(.addSlot, { $0[name] = .data([UInt8](repeating: 1, count: count)) })) }
    }
    #expect(try refused(.addSlot, { $0["new-kind"] = .integer(UInt64(SlotType.external.rawValue)) }))
    #expect(try refused(.addSlot, { $0["memory"] = .integer(1) }))
    #expect(try refused(.addSlot, { $0["memory"] = .integer(.max) }))
    #expect(try refused(.addSlot, { $0["more"] = .integer(1) }))
    #expect(try refused(.replaceSlot, { _ in }))
    #expect(try refused(.inspect, { _ in }))
    #expect(try refused(.pins, { _ in }))
    #expect(throws: WireError.self) { _ = try Request.parse(.grant, Message(fields: Attributes())) }
  }
}
