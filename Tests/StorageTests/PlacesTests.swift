import Children
import CofferFiles
import CofferStorage
import Glibc
import SecretMemory
import Testing
import VaultCore

@Suite struct PlacesTests {
  private func places(_ environment: [String: String]) throws -> Places { try Places { environment[$0] } }

  @Test func cofferHomeHoldsEverything() throws {
    let places = try places(["COFFER_HOME": "/c", "HOME": "/h", "XDG_DATA_HOME": "/d"])
    #expect(places.vault == "/c/vault.coffer")
    #expect(places.state == "/c/state")
    #expect(places.runtime == "/c/run")
    #expect(places.deviceKey == "/c/state/device.key")
    let vault = try #require(Identifier([UInt8](repeating: 0xAB, count: 16)))
    #expect(places.deviceKey(of: vault) == "/c/state/device-\(String(repeating: "ab", count: 16)).key")
  }

  @Test func theXDGDirectories() throws {
    var found = try places(["HOME": "/h"])
    #expect(found.vault == "/h/.local/share/coffer/vault.coffer")
    #expect(found.state == "/h/.local/state/coffer")
    #expect(found.runtime == nil)
    found = try places(["XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s/", "XDG_RUNTIME_DIR": "/r"])
    #expect(found.vault == "/d/coffer/vault.coffer")
    #expect(found.state == "/s/coffer")
    #expect(found.runtime == "/r/coffer")
    // The specification: relative ones are to be ignored.
    found = try places(["HOME": "/h", "XDG_DATA_HOME": "d", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": "r"])
    #expect(found.vault == "/h/.local/share/coffer/vault.coffer")
    #expect(found.state == "/h/.local/state/coffer")
    #expect(found.runtime == nil)
  }

  @Test("a program of an app, whose XDG directories are its own, is led to those of the user") func ofAnApp() throws {
    let app = ["HOME": "/a", "XDG_DATA_HOME": "/a/s", "XDG_STATE_HOME": "/a/s"]
    let user = ["COFFER_DATA_HOME": "/d/coffer", "COFFER_STATE_HOME": "/s/coffer"]
    let found = try places(app.merging(user) { $1 })
    #expect(found.vault == "/d/coffer/vault.coffer" && found.state == "/s/coffer" && found.deviceKey == "/s/coffer/device.key")
    #expect(
      try places(app.merging(["COFFER_DATA_HOME": "d", "COFFER_STATE_HOME": ""]) { $1 }).vault == "/a/s/coffer/vault.coffer")
    #expect(try places(user.merging(["COFFER_HOME": "/c"]) { $1 }).state == "/c/state")
  }

  @Test func aRelativeCofferHomeIsAnError() {
    #expect(code { _ = try places(["COFFER_HOME": "c", "HOME": "/h"]) } == .relativePath)
  }

  @Test func withoutAHomeTheUserDatabaseIsAsked() throws {
    let home = unsafe String(cString: getpwuid(getuid()).pointee.pw_dir)
    #expect(try places([:]).vault == "\(home)/.local/share/coffer/vault.coffer")
    #expect(try places(["HOME": "relative"]).state == "\(home)/.local/state/coffer")
    #expect(try places(["COFFER_HOME": ""]).state == "\(home)/.local/state/coffer")
  }

  @Test(isSuperuser) func aUserThatNobodyKnowsHasNoHome() {
    #expect(run(probe, "as", "54321", "places", "") == ["noHome", ""])
  }

  /// As somebody who starts a program of `nobody` that has the rights of its owner.
  @Test(isSuperuser) func noVariableCountsWithTheRightsOfAnother() throws {
    let fixture = try Fixture(withVault: false)
    let copy = "\(fixture.directory)/probe"
    run("cp", probe, copy)
    run("chown", "nobody", copy)
    run("chmod", "711", fixture.directory)
    let home = unsafe String(cString: getpwnam("nobody").pointee.pw_dir)
    for (mode, vault) in [("755", "/c/vault.coffer"), ("4755", "\(home)/.local/share/coffer/vault.coffer")] {
      run("chmod", mode, copy)
      let lines = run(
        "setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", "env", "COFFER_HOME=/c", copy,
        "places-of-environment", "")
      #expect(lines == ["ok \(vault)"], "\(mode)")
    }
  }
}

@Suite struct AnchorFilesTests {
  private let vault = Fixture.identifier(0xAB)
  private let name = String(repeating: "ab", count: 16)

  @Test func savedAndLoaded() throws {
    let fixture = try Fixture(withVault: false)
    let directory = "\(fixture.directory)/state/anchors"
    let anchors = AnchorFiles(in: directory, forVaultAt: "/v")
    #expect(try anchors.load(vault) == nil && anchors.lastVault() == nil)
    try anchors.update(vault, isDurable: false) { before in before == nil ? [1, 2, 3] : nil }
    try anchors.update(vault, isDurable: false) { before in before == [1, 2, 3] ? Array(repeating: 6, count: 4096) : nil }
    try anchors.update(vault, isDurable: false) { _ in nil }
    #expect(try anchors.load(vault) == Array(repeating: 6, count: 4096))
    #expect(try anchors.lastVault() == vault.bytes)
    // Anchors belong to vaults, notes to paths.
    let elsewhere = AnchorFiles(in: directory, forVaultAt: "/w")
    #expect(try elsewhere.load(vault)?.count == 4096 && elsewhere.lastVault() == nil)
    #expect(try elsewhere.load(Fixture.identifier(1)) == nil)
    let note = try anchors.notePath().split(separator: "/").last ?? ""
    let modes = run("sh", "-c", "cd \(directory); stat -c '%n %a' . *")
    #expect(modes == [". 700", "\(name) 600", "\(note) 600", "home-\(name) 600", "lock 600"])
  }

  /// The descriptor of the lock is not closed before the files are replaced, also not by a compiler that sees no later use of it.
  @Test func theLockIsHeldDuringAReplacement() throws {
    let fixture = try Fixture(withVault: false)
    var isHeld: Bool?
    try AnchorFiles(in: fixture.directory, forVaultAt: "/v").update(vault, isDurable: false) { _ in
      let file = try OpenFile("\(fixture.directory)/lock", O_RDWR)
      isHeld = FileLock.isHeld(0..<1, on: file.number)
      return [1]
    }
    #expect(isHeld == true)
  }

  @Test func aFailedReplacementChangesNothing() throws {
    let fixture = try Fixture(withVault: false)
    let anchors = AnchorFiles(in: fixture.directory, forVaultAt: "/v")
    #expect(code { try anchors.update(vault, isDurable: false) { _ in throw StorageError(.full, "") } } == .full)
    #expect(try anchors.load(vault) == nil && anchors.lastVault() == nil)
  }

  /// Without the lock, each of two writers replaces what the other one has just written.
  @Test func comparedAndReplacedUnderALock() async throws {
    let fixture = try Fixture(withVault: false)
    let (directory, vault, rounds, writers) = (fixture.directory, vault, 200, 4)
    try await withThrowingTaskGroup { group in
      for _ in 0..<writers {
        group.addTask {
          let anchors = AnchorFiles(in: directory, forVaultAt: "/v")
          for _ in 0..<rounds {
            try anchors.update(vault, isDurable: false) { before in
              let count = (before ?? [0, 0]).reduce(0) { $0 << 8 | Int($1) } + 1
              return [UInt8(count >> 8), UInt8(count & 0xFF)]
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let count = try AnchorFiles(in: directory, forVaultAt: "/v").load(vault)?.reduce(0) { $0 << 8 | Int($1) }
    #expect(count == rounds * writers)
  }

  @Test(isSuperuser) func refused() throws {
    let fixture = try Fixture(withVault: false)
    let anchors = AnchorFiles(in: fixture.directory, forVaultAt: "/v")
    for path in [anchors.path(of: vault), try anchors.notePath()] {
      func load() throws { _ = (try anchors.load(vault), try anchors.lastVault()) }
      Fixture.write([], to: path)
      #expect(try anchors.load(vault) == nil && anchors.lastVault() == nil)
      // The core finds out that it is no anchor, and the owner can accept the state without it.
      Fixture.write(Array(repeating: 0, count: 9000), to: path)
      #expect(try path == anchors.path(of: vault) ? anchors.load(vault)?.count == 4097 : anchors.lastVault()?.count == 4097)
      run("chmod", "666", path)
      #expect(code { try load() } == .permissionsTooOpen)
      run("chmod", "600", path)
      run("chown", "1000", path)
      #expect(code { try load() } == .foreignOwner)
      run("rm", path)
      run("mkfifo", "-m600", path)
      #expect(code { try load() } == .notAFile)
      run("rm", path)
      run("ln", "-s", "/etc/passwd", path)
      #expect(code { try load() } == .symbolicLink)
      run("rm", path)
    }
    #expect(code { try anchors.update(vault, isDurable: false) { _ in Array(repeating: 0, count: 4097) } } == .wrongLength)
    #expect(code { try anchors.update(vault, isDurable: false) { _ in [] } } == .wrongLength)
    run("ln", "-sf", "/etc/passwd", "\(fixture.directory)/lock")
    #expect(code { try anchors.update(vault, isDurable: false) { _ in [1] } } == .symbolicLink)
  }
}

extension AnchorFilesTests {
  /// Files that killed processes have left go with the next change.
  @Test func leftoversGo() throws {
    let fixture = try Fixture(withVault: false)
    let anchors = AnchorFiles(in: fixture.directory, forVaultAt: "/v")
    let note = try anchors.notePath().split(separator: "/").last ?? ""
    for name in [name, String(note), "home-\(name)"] {
      Fixture.write([1], to: "\(fixture.directory)/.\(name).0123456789abcdef.new")
    }
    try anchors.update(vault, isDurable: false) { _ in [1] }
    #expect(fixture.names.sorted() == [name, String(note), "home-\(name)", "lock"].sorted())
  }
}

@Suite struct DeviceKeyFileTests {
  @Test func madeOnceAndLoaded() throws {
    let fixture = try Fixture(withVault: false)
    let file = DeviceKeyFile(at: "\(fixture.directory)/state/device.key")
    var found = try file.load()
    let isMissing = found == nil
    #expect(isMissing)
    let key = try Secret.random(count: 32)
    try file.create(key)
    found = try file.load()
    let isEqual = found!.isEqual(to: key)
    #expect(isEqual)
    #expect(Fixture.read(file.path).count == 32)
    let other = try Secret.random(count: 32)
    let again = #expect(throws: StorageError.self) { try file.create(other) }
    #expect(again?.code == .vaultExists)
    #expect(run("sh", "-c", "stat -c %a \(file.path); ls -A \(fixture.directory)/state") == ["600", "device.key"])
  }

  @Test(isSuperuser) func refused() throws {
    let fixture = try Fixture(withVault: false)
    let file = DeviceKeyFile(at: fixture.path)
    #expect(code { try file.create(Secret.random(count: 31)) } == .wrongLength)
    for count in [0, 31, 33] {
      Fixture.write(Array(repeating: 0, count: count), to: fixture.path)
      #expect(code { _ = try file.load() } == .wrongLength)
    }
    Fixture.write(Array(repeating: 0, count: 32), to: fixture.path, mode: 0o640)
    #expect(code { _ = try file.load() } == .permissionsTooOpen)
    run("rm", fixture.path)
    run("ln", "-s", "/etc/passwd", fixture.path)
    #expect(code { _ = try file.load() } == .symbolicLink)
    #expect(code { try file.create(Secret.random(count: 32)) } == .vaultExists)
  }
}
