import Coffer
import CofferTesting
import Foundation
import PreferenceStore
import Synchronization
import Testing
import VaultCore

import class PreferenceStore.UserDefaults

/// Stores the password of an account, or replaces the stored one.
func savePassword(_ password: borrowing Secret, account: String, in keychain: Keychain) throws {
  let item = Item(service: "mail.example.com", account: account)
  do {
    try keychain.add(item, secret: password)
  } catch KeychainError.Code.duplicate {
    let entry = try keychain.item(KeychainQuery(service: "mail.example.com", account: account))
    try keychain.update(entry, secret: password)
  }
}

/// Returns nil if no password is stored for the account. A locked vault throws.
func password(for account: String, in keychain: Keychain) throws -> Secret? {
  do {
    let entry = try keychain.item(KeychainQuery(service: "mail.example.com", account: account))
    return try keychain.secret(of: entry.reference)
  } catch KeychainError.Code.notFound {
    return nil
  }
}

/// Reads the token that the apps of the team share. Returns nil if this program may not use the group.
func sharedToken(of team: String) throws -> Secret? {
  let keychain = try Keychain.connect()
  do {
    let group = try AccessGroup("\(team).shared")
    let entry = try keychain.item(KeychainQuery(service: "api", account: "ada", group: group))
    return try keychain.secret(of: entry.reference)
  } catch KeychainError.Code.missingEntitlement {
    return nil
  }
}

/// Reads the database password with the credential that the service manager passes.
func databasePassword(inVaultAt path: String) throws -> Secret {
  let keychain = try Keychain.open(at: path, as: .owner)
  let entry = try keychain.item(KeychainQuery(service: "db", account: "app"))
  return try keychain.secret(of: entry.reference)
}

/// Reads a password from an open vault.
func password(of account: String, in vault: borrowing Vault) throws -> Secret {
  guard let entry = try vault.entry(Item(service: "mail.example.com", account: account)) else {
    throw VaultError(.notFound)
  }
  return try vault.secret(of: entry.reference)
}

func rememberWindow(width: Int, height: Int) {
  let defaults = UserDefaults.standard
  defaults.set(["width": width, "height": height], forKey: "window")
}

func windowWidth() -> Int {
  let window = UserDefaults.standard.dictionary(forKey: "window")
  return window?["width"] as? Int ?? 80
}

func followTheme(of defaults: UserDefaults, _ apply: @escaping @Sendable (String) -> Void) -> PreferenceObservation {
  defaults.observe("theme", options: .initial) { change in
    apply(change.new as? String ?? "light")
  }
}

func followPage(_ show: @escaping @Sendable (Int64) -> Void) -> any NSObjectProtocol {
  let store = NSUbiquitousKeyValueStore.default
  let name = NSUbiquitousKeyValueStore.didChangeExternallyNotification
  let token = NotificationCenter.default.addObserver(forName: name, object: store, queue: nil) { notification in
    let keys = notification.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? []
    if keys.contains("page") { show(NSUbiquitousKeyValueStore.default.longLong(forKey: "page")) }
  }
  store.synchronize()  // once at the start: notifications begin with it
  return token
}

@Suite struct GuideExampleTests {
  @Test func aPasswordIsStoredReplacedAndRead() throws {
    let keychain = try Keychain(Vault.throwAway(), as: .groups([.standard]))
    let isMissing = try password(for: "ada", in: keychain) == nil
    #expect(isMissing)
    try savePassword(Secret(testing: "one"), account: "ada", in: keychain)
    try savePassword(Secret(testing: "three"), account: "ada", in: keychain)
    #expect(try password(for: "ada", in: keychain)?.count == 5)
  }

  @Test func aVaultGivesThePassword() throws {
    var vault = try Vault.throwAway()
    try vault.add(Item(service: "mail.example.com", account: "ada"), secret: Secret(testing: "one"), at: .test)
    #expect(try password(of: "ada", in: vault).count == 3)
  }

  @Test func aWindowIsRemembered() {
    rememberWindow(width: 132, height: 43)
    #expect(windowWidth() == 132)
  }

  @Test func aThemeIsFollowed() throws {
    let defaults = try #require(UserDefaults(suiteName: "com.example.guide"))
    let themes = Mutex<[String]>([])
    let observation = followTheme(of: defaults) { theme in themes.withLock { $0.append(theme) } }
    defaults.set("dark", forKey: "theme")
    #expect(themes.withLock { $0 } == ["light", "dark"])
    observation.cancel()
  }

  @Test func aPageIsFollowed() {
    let pages = Mutex<[Int64]>([])
    let token = followPage { page in pages.withLock { $0.append(page) } }
    let store = NSUbiquitousKeyValueStore.default
    store.set(Int64(7), forKey: "page")
    NotificationCenter.default.post(
      name: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: store,
      userInfo: [NSUbiquitousKeyValueStoreChangedKeysKey: ["page"]])
    NotificationCenter.default.removeObserver(token)
    #expect(pages.withLock { $0 } == [7])
  }
}
