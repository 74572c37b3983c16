package import AccessRights
internal import AppContainers
package import CofferFiles
import SecretMemory
package import VaultCore

/// The consequences of installing an app, determined before anything is changed.
package struct Installation {
  package enum Kind: String {
    case new, update, again, repair, unchanged
  }

  package let signed: SignedManifest
  package let kind: Kind
  /// The pin of the app, if it is or was installed.
  package let before: AppPin?
  /// Whether no app of this team was ever installed.
  package let isNewTeam: Bool
  /// Apps of other teams with the same identifier, including removed ones.
  package let namesakes: [AppPin]

  package var application: String { signed.manifest.applicationIdentifier }
}

extension InstalledApps {
  /// - Throws: `VaultError`: `appDowngrade`. `AppsError`: `sameVersionDiffers`.
  package func plan(_ signed: SignedManifest, in vault: borrowing some AppRecords & ~Copyable) throws -> Installation {
    let manifest = signed.manifest
    let pins = try vault.pins()
    let before = try vault.pin(manifest.applicationIdentifier)
    if let before, manifest.version < before.version {
      throw VaultError(.appDowngrade, "version \(manifest.version) after \(before.version)")
    }
    return Installation(
      signed: signed, kind: try kind(signed, before), before: before,
      isNewTeam: !pins.contains { $0.teamKey == signed.teamKey },
      namesakes: pins.filter { $0.identifier == manifest.identifier && $0.teamKey != signed.teamKey })
  }

  private func kind(_ signed: SignedManifest, _ before: AppPin?) throws -> Installation.Kind {
    guard let before else { return .new }
    guard before.removed == nil else { return .again }
    guard before.version == signed.manifest.version else { return .update }
    guard let bundle = try Self.unlessDamaged({ try self.bundle(before.applicationIdentifier) }), let bundle else {
      return .repair
    }
    guard bundle.signed.manifest == signed.manifest else {
      throw AppsError(.sameVersionDiffers, "version \(before.version)")
    }
    return try Self.unlessDamaged { try proveExecutables(of: bundle) } == nil ? .repair : .unchanged
  }

  /// Installs an app. Copies its executables only, so that no unsigned file is installed.
  /// - Parameters:
  ///   - bytes: The signed manifest.
  ///   - source: The directory of the executables; nil if they are not stored here.
  /// - Throws: `AppsError`: `executableMissing`, `executableChanged`, `sameVersionDiffers`; `VaultError`; `FileError`.
  @discardableResult
  package func install(
    _ bytes: [UInt8], from source: OpenDirectory?, in vault: inout some AppRecords & ~Copyable, at now: Timestamp
  ) throws -> Installation {
    let signed = try SignedManifestFile.read(bytes)
    try recover(in: &vault)
    let plan = try plan(signed, in: vault)
    if plan.kind == .unchanged {
      try complete(signed.manifest)
      return plan
    }
    let replacement = try Replacement(of: FileName(plan.application), in: directory)
    do {
      try stage(signed, bytes, from: source, in: replacement.begin())
      try replacement.makeReady()
      try vault.install(signed, bytes, at: now)
    } catch {
      // A failed commit may have taken effect: read the pin again. If it is not the old one, the next recovery decides.
      if try vault.pin(plan.application) == plan.before { try replacement.cancel() }
      throw error
    }
    try complete(signed.manifest)
    try replacement.finish()
    return plan
  }

  private func stage(_ signed: SignedManifest, _ bytes: [UInt8], from source: OpenDirectory?, in target: OpenDirectory) throws {
    var made: [OpenDirectory] = []
    for executable in hasExecutables ? signed.manifest.executables : [] {
      guard let source else { throw AppsError(.executableMissing, executable.path) }
      let path = try RelativePath(executable.path)
      var here = target
      for name in path.names.dropLast() {
        here = try here.makeDirectory(name)
        made.append(here)
      }
      let content = try ExecutableContent.open(executable.path, in: source)
      let copy = try here.makeFile(path.names[path.names.count - 1])
      guard try content.digest({ try copy.write($0) }) == executable.digest else {
        throw AppsError(.executableChanged, executable.path)
      }
      // Readable for the system agent, which opens it through the process that runs it. The directory excludes all other users.
      try copy.setMode(0o555)
      try copy.synchronize()
    }
    let manifest = try target.makeFile(FileName(SignedManifestFile.name))
    try manifest.write(bytes)
    try manifest.setMode(0o400)
    try manifest.synchronize()
    for directory in made.reversed() + [target] {
      try directory.synchronize()
      // Write-protected, so that the app cannot change itself.
      try directory.setMode(0o500)
    }
  }

  /// Creates the container and the group directories of an installed app, unless they exist.
  func complete(_ manifest: Manifest) throws {
    guard hasExecutables else { return }
    _ = try data.makeContainer(FileName(manifest.applicationIdentifier))
    for group in manifest.applicationGroups { _ = try data.makeGroup(FileName(group.name)) }
  }
}
