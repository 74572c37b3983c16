import AccessRights
import AppContainers
import CofferApps
import CofferFiles
import CofferTesting
import Foundation
import Testing
import VaultCore

/// The states after a crash, one by one. `AppKillTests` produces these states with the program itself.
@Suite struct RecoveryTests {
  let bench: Workbench
  let name: String

  init() throws {
    bench = try Workbench()
    name = try bench.name()
  }

  private func move(_ old: String, _ new: String) throws {
    try FileManager.default.moveItem(atPath: "\(bench.path)/data/Apps/\(old)", toPath: "\(bench.path)/data/Apps/\(new)")
  }

  private func recovered(_ vault: inout Vault) throws -> [String] {
    try bench.apps().recover(in: &vault)
    return bench.names("Apps").filter { $0 != ".lock" }
  }

  @Test func readyAndPinnedGoesInPlace() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    try bench.data.removeContainer(FileName(name))
    try move(name, ".\(name).ready")
    #expect(try recovered(&vault) == [name])
    #expect(bench.exists("Containers/\(name)/Documents"))
  }

  @Test func readyAndNotPinnedGoes() throws {
    var vault = try Vault.throwAway()
    var other = try Vault.throwAway()
    try bench.install(in: &vault)
    try move(name, ".\(name).ready")
    #expect(try recovered(&other) == [])
  }

  @Test func readyOfAnotherVersionGoesAndTheOldOneStays() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    try move(name, "kept")
    var second = try Vault.throwAway()
    try bench.install(Workbench.manifest(version: 2), in: &second)
    try move(name, ".\(name).ready")
    try move("kept", name)
    #expect(try recovered(&vault) == [name])
    #expect(try bench.apps().bundle(name)?.signed.manifest.version == 1)
  }

  @Test func readyAndChangedGoes() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    let file = "\(bench.path)/data/Apps/\(name)/bin/editor"
    unsafe chmod(file, 0o700)
    try "changed".write(toFile: file, atomically: false, encoding: .utf8)
    try move(name, ".\(name).ready")
    #expect(try recovered(&vault) == [])
  }

  @Test func halfOfANewOneGoes() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    try FileManager.default.createDirectory(
      atPath: "\(bench.path)/data/Apps/.\(name).new/bin", withIntermediateDirectories: true)
    #expect(try recovered(&vault) == [name])
  }

  @Test func theOldOneGoesOrComesBack() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    try move(name, ".\(name).old")
    #expect(try recovered(&vault) == [name])
    try FileManager.default.createDirectory(atPath: "\(bench.path)/data/Apps/.\(name).old", withIntermediateDirectories: true)
    #expect(try recovered(&vault) == [name])
    #expect(try bench.states(in: vault) == [name: .installed])
  }

  @Test func aRemovalThatTheVaultDoesNotKnowIsUndone() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    try move(name, ".\(name).removing")
    #expect(try recovered(&vault) == [name])
    #expect(bench.exists("Containers/\(name)"))
    // The removal marker of an app whose files were deleted earlier.
    try FileManager.default.removeItem(atPath: "\(bench.path)/data/Apps/\(name)")
    try FileManager.default.createDirectory(
      atPath: "\(bench.path)/data/Apps/.\(name).removing", withIntermediateDirectories: true)
    #expect(try recovered(&vault) == [])
    #expect(bench.exists("Containers/\(name)"))
  }

  @Test func aRemovalThatTheVaultKnowsIsFinished() throws {
    var vault = try Vault.throwAway()
    try bench.install(Workbench.manifest(groups: "\"$(TEAM).data\""), in: &vault)
    try move(name, ".\(name).removing")
    try vault.transaction { try $0.markRemoved(name, at: .test) }
    let lock = try RunningLock.running(FileName(name), in: bench.data.containers())
    // Not while a program of the app runs; recovery does not wait for it.
    #expect(try recovered(&vault) == [".\(name).removing"])
    #expect(bench.exists("Containers/\(name)"))
    withExtendedLifetime(lock) {}
  }

  @Test func itIsFinishedWhenTheProgramHasEnded() throws {
    var vault = try Vault.throwAway()
    try bench.install(Workbench.manifest(groups: "\"$(TEAM).data\""), in: &vault)
    try move(name, ".\(name).removing")
    try vault.transaction { try $0.markRemoved(name, at: .test) }
    #expect(try recovered(&vault) == [])
    #expect(bench.names("Containers") == [] && bench.names("Groups") == [])
  }

  /// The app may be in another vault, so its data must be kept.
  @Test func anAppOfAnotherVaultIsKept() throws {
    var vault = try Vault.throwAway()
    var other = try Vault.throwAway()
    try bench.install(in: &vault)
    try move(name, ".\(name).removing")
    #expect(try recovered(&other) == [".\(name).removing"])
    #expect(bench.exists("Containers/\(name)"))
  }
}
