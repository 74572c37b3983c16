import CofferStorage
import CofferTesting
import Glibc
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@testable import CofferLifecycle

/// A rotation and the key of this device: the whole of it, from the plan to what it reports.
@Suite struct RotationDeviceTests {
  private let fixture = Fixture()

  private func add(_ account: String, to vault: inout Vault) throws {
    try vault.add(
      Item(service: "here", account: account), secret: Secret(testing: account), accessible: .whenUnlockedThisDevice, at: .test)
  }

  /// A vault with three items, and one of this device.
  private func makeVault() throws {
    try fixture.makeVault()
    var vault = try fixture.open()
    try fixture.deviceKeys().open(vault, making: true)
    try add("one", to: &vault)
    try vault.close()
  }

  private func bytes(_ file: DeviceKeyFile) throws -> [UInt8]? {
    switch try file.load() {
    case .some(let key): key.copyIntoUnprotectedBytes()
    case .none: nil
    }
  }

  private func isThere(_ file: DeviceKeyFile) -> Bool { unsafe access(file.path, F_OK) == 0 }

  private func expectAllOpen(_ count: UInt64 = 5, _ place: SourceLocation = #_sourceLocation) throws {
    let result = try fixture.openWithDeviceKey().verify()
    #expect(
      result.isSound && result.unavailableCount == 0 && result.recordCount == count, "\(result)", sourceLocation: place)
  }

  @Test(arguments: [false, true]) func theKeyIsNewIfItIsOrdered(isOrdered: Bool) throws {
    try makeVault()
    let files = try fixture.deviceKeys()
    let before = try #require(try bytes(files.own))
    let outcome = try fixture.rotate(Party()) { $0.renewsDevice = isOrdered }
    #expect(try bytes(files.own) != (isOrdered ? before : nil) && (bytes(files.own) == before) != isOrdered)
    #expect(!isThere(files.next) && outcome.deviceKey == (isOrdered ? files.own.path : nil) && outcome.sharedDeviceKey == nil)
    try expectAllOpen()
    // The key of before opens nothing, or is the one in force.
    let former = try fixture.open()
    try former.use(deviceKey: Secret(testing: before))
    #expect(try former.verify().unavailableCount == (isOrdered ? 1 : 0))
  }

  /// A vault that has no item of this device yet gets a key, and a box that shows which key is in force.
  @Test func aVaultWithoutItemsOfThisDeviceGetsAKey() throws {
    try fixture.makeVault()
    let files = try fixture.deviceKeys()
    #expect(!isThere(files.own))
    #expect(try fixture.rotate(Party()) { $0.renewsDevice = true }.deviceKey == files.own.path)
    #expect(isThere(files.own) && !isThere(files.next))
    var vault = try fixture.openWithDeviceKey()
    try add("one", to: &vault)
    try expectAllOpen()
  }

  /// The key that other vaults may use stays, and is named if the rotation has made another one.
  @Test(arguments: [false, true]) func theSharedKeyIsNamed(isOrdered: Bool) throws {
    try fixture.makeVault()
    let files = try fixture.deviceKeys()
    try files.shared.createUnlessThere()
    var vault = try fixture.openWithDeviceKey()
    try add("one", to: &vault)
    try vault.close()
    let shared = try bytes(files.shared)
    let outcome = try fixture.rotate(Party()) { $0.renewsDevice = isOrdered }
    #expect(outcome.sharedDeviceKey == (isOrdered ? files.shared.path : nil) && isThere(files.own) == isOrdered)
    #expect(try bytes(files.shared) == shared)
    try expectAllOpen()
  }

  /// An earlier rotation was killed between its commit and the rename, or before its commit. New keys for a group end the one, and leave
  /// the other alone.
  @Test(arguments: [false, true]) func theNextRotationPutsAKeyInItsPlace(isCommitted: Bool) throws {
    try makeVault()
    let files = try fixture.deviceKeys()
    var vault = try fixture.openWithDeviceKey()
    try files.prepareNext(for: &vault)
    let next = try bytes(files.next)
    if isCommitted {
      var renewal = try MasterKeyRenewal(of: vault.status())
      try renewal.seal(vault.openedSlot, under: .throwAway(), kdf: .floor)
      try renewal.commit(to: &vault, deviceKey: files.next.load())
    }
    try vault.close()
    _ = try fixture.rotate(Party()) { $0.groups = [.standard] }
    #expect(isThere(files.next) != isCommitted)
    #expect(try (bytes(files.own) == next) == isCommitted)
    try expectAllOpen()
  }

  // MARK: Items of other devices

  /// Items that do not open here: their key is on another device, or only missing. They are not sealed anew, and a new device key would
  /// hide the one that opens them.
  @Test(arguments: [
    (leaves: false, masterOnly: false, device: false, isDone: false), (true, false, false, true), (false, true, false, true),
    (false, true, true, false), (true, true, true, true),
  ]) func itemsOfOtherDevicesAreLeftIfThatIsOrdered(leaves: Bool, masterOnly: Bool, device: Bool, isDone: Bool) throws {
    try makeVault()
    let files = try fixture.deviceKeys()
    let key = try #require(try bytes(files.own))
    #expect(unsafe unlink(files.own.path) == 0)
    func rotate() throws -> RotationOutcome {
      try fixture.rotate(Party()) {
        ($0.leavesDeviceItems, $0.isMasterOnly, $0.renewsDevice) = (leaves, masterOnly, device)
      }
    }
    if isDone {
      #expect(try rotate().masterEpoch == 2)
    } else {
      #expect(throws: LifecycleError(.itemsOfOtherDevices)) { _ = try rotate() }
      #expect(try fixture.open().status().masterEpoch == 1)
      #expect(fixture.backups.paths == [] && !isThere(files.next))
    }
    // On the other device they open as before.
    let other = try fixture.open()
    try other.use(deviceKey: Secret(testing: key))
    let result = try other.verify()
    #expect(result.isSound && result.unavailableCount == 0, "\(result)")
  }
}
