import CofferStorage
import CofferTesting
import SecretMemory
import VaultCore

@testable import CofferLifecycle

/// A vault, a backup of it with 3 items, and then one more item.
struct RestoreScene {
  let fixture = Fixture()
  let backup: String

  init(items: Int = 3, secret: String = "secret") throws {
    try fixture.makeVault(items: items, secret: secret)
    backup = "\(fixture.directory)/old"
    _ = try Backup.make(of: FileStore(at: fixture.path), at: .file(backup), now: .test, step: { _, _ in })
    try add("later")
  }

  var places: Places {
    get throws {
      let directory = fixture.directory
      return try Places { $0 == "COFFER_HOME" ? directory : nil }
    }
  }
  var place: RestorePlace { get throws { try RestorePlace(places, vaultAt: nil) } }
  var anchors: AnchorFiles { get throws { try place.anchors } }

  func open() throws -> Vault { try .openThrowAway(FileStore(at: fixture.path), anchor: anchors) }

  func add(_ account: String) throws {
    var vault = try open()
    try vault.add(Item(service: "item", account: account), secret: Secret(testing: "x"), at: .test)
    try vault.close()
  }

  func accounts() throws -> Set<String> {
    Set(try open().entries().entries.compactMap { $0.item["account"] })
  }

  func restoration(of file: String? = nil) throws -> Restoration {
    let place = try place
    let lock = try MaintenanceLock(forVaultAt: place.vault)
    let copy = try ForeignVault(copiedFrom: file ?? backup, besides: place.vault, in: place.backups, step: { _, _ in })
    let restoration = Restoration(of: copy, at: place, holding: lock)
    try restoration.open(with: .throwAway(), ceiling: .standard)
    return restoration
  }
}
