import AccessRights
import AppContainers
import CofferApps
import CofferFiles
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

/// The workplace of a team: a directory with programs and manifests, and a place in which to install them.
final class Workbench {
  let path: String
  let data: DataDirectory
  let seed: UInt8

  init(seed: UInt8 = 1, at path: String? = nil) throws {
    self.seed = seed
    self.path = path ?? FileManager.default.temporaryDirectory.appending(path: "coffer-\(UUID().uuidString)").path
    data = try DataDirectory(at: self.path + "/data")
    try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
    try write("bin/editor", "#!/bin/sh\necho editor\n")
    try write("bin/widget", "#!/bin/sh\necho widget\n")
  }

  /// The workbench of another team, beside this one.
  func other(seed: UInt8 = 2) throws -> Workbench { try Workbench(seed: seed, at: path) }

  deinit { if seed == 1 { try? FileManager.default.removeItem(atPath: path) } }

  var source: String { "\(path)/source-\(seed)" }

  func key() throws -> TeamSigningKey { try TeamSigningKey(seed: Secret(testing: [UInt8](repeating: seed, count: 32))) }

  var team: TeamIdentifier { get throws { try key().publicKey.identifier } }

  func write(_ name: String, _ text: String) throws {
    let url = URL(filePath: "\(source)/\(name)")
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try? FileManager.default.removeItem(at: url)
    try text.write(to: url, atomically: false, encoding: .utf8)
  }

  static func manifest(
    _ identifier: String = "com.example.editor", version: Int = 1, groups: String = "", name: String = "Editor"
  )
    -> String
  {
    """
    { Identifier = "\(identifier)"; DisplayName = "\(name)"; Version = \(version);
      Executables = ( { Path = "bin/editor"; }, { Path = "bin/widget"; Role = widget; } );
      "keychain-access-groups" = ( "$(TEAM).shared" ); "application-groups" = ( \(groups) ); }
    """
  }

  func signed(_ text: String = manifest()) throws -> [UInt8] {
    let file = try ManifestFile(Array(text.utf8))
    let signed = try SignedManifestFile.sign(file, executablesIn: OpenDirectory.foreign(source), with: key())
    return try SignedManifestFile.write(signed, store: file.store(of: signed.manifest))
  }

  func apps() throws -> InstalledApps { try InstalledApps(in: data) }

  @discardableResult func install(_ text: String = manifest(), in vault: inout Vault) throws -> Installation {
    try apps().install(signed(text), from: OpenDirectory.foreign(source), in: &vault, at: .test)
  }

  func name(_ identifier: String = "com.example.editor") throws -> String { "\(try team).\(identifier)" }

  func exists(_ path: String) -> Bool { (try? FileManager.default.attributesOfItem(atPath: "\(self.path)/data/\(path)")) != nil }

  func names(_ path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(self.path)/data/\(path)")) ?? []).sorted()
  }

  func mode(_ path: String) throws -> Int {
    try #require(
      try FileManager.default.attributesOfItem(atPath: "\(self.path)/data/\(path)")[.posixPermissions] as? Int)
  }

  func states(in vault: borrowing Vault) throws -> [String: InstalledApps.Entry.State] {
    var states: [String: InstalledApps.Entry.State] = [:]
    for entry in try apps().entries(in: vault) { states[entry.pin.applicationIdentifier] = entry.state }
    return states
  }
}

/// The name of the error's code; nil if none is thrown.
func code(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch let error as AppsError {
    return error.code.name
  } catch let error as VaultError {
    return error.code.name
  } catch let error as FileError {
    return error.code.name
  } catch {
    return "\(error)"
  }
}
