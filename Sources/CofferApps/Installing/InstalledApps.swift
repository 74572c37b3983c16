package import AccessRights
package import AppContainers
package import CofferFiles
import SecretMemory
import VaultCore

/// The apps of a user: executables and manifests in `Apps`, pins in the vault, and their containers.
///
/// The vault decides: an app is installed if its pin says so. New files are written before the pin, and put in place afterwards;
/// after a crash, the next process finishes or undoes the operation. This object holds the lock on `Apps` for its lifetime, so
/// that no other process does that meanwhile.
package struct InstalledApps {
  let data: DataDirectory
  /// `Apps`.
  let directory: OpenDirectory
  /// False in the system agent, which stores manifests only; the command installs executables and containers as the user.
  let hasExecutables: Bool
  private let lock: DirectoryLock

  /// - Throws: `FileError`: `busy` if another process holds the lock for too long.
  package init(in data: DataDirectory, hasExecutables: Bool = true) throws(FileError) {
    self.data = data
    self.hasExecutables = hasExecutables
    directory = try data.apps()
    lock = try DirectoryLock(of: directory)
  }

  // MARK: One app

  /// The files of an installed app, with a verified signature.
  package struct Bundle {
    package let signed: SignedManifest
    package let directory: OpenDirectory
    /// The name of the app's store of synchronised settings; nil if the manifest names none.
    package let store: String?
  }

  /// The manifest in the app's directory. nil if there is no directory.
  /// - Throws: `AppsError`: `bundleDamaged`, also if it is the manifest of another app.
  package func bundle(_ application: String) throws -> Bundle? {
    try bundle(FileName(application), of: application)
  }

  func bundle(_ name: FileName, of application: String) throws -> Bundle? {
    guard let directory = try directory.directory(name) else { return nil }
    do {
      guard let bytes = try directory.contents(FileName(SignedManifestFile.name), limit: ManifestFile.maximumByteCount) else {
        throw AppsError(.bundleDamaged, "\(application): without its manifest")
      }
      let signed = try SignedManifestFile.read(bytes)
      guard signed.manifest.applicationIdentifier.utf8.elementsEqual(application.utf8) else {
        throw AppsError(.bundleDamaged, "\(application): with the manifest of \(signed.manifest.applicationIdentifier)")
      }
      let store = try SignedManifestFile.store(in: bytes, of: signed)
      return Bundle(signed: signed, directory: directory, store: store)
    } catch let error as AppsError where error.code == .bundleDamaged {
      throw error
    } catch let error as FileError {
      throw error
    } catch let error as VaultError where error.code == .outOfMemory {
      throw error
    } catch {
      throw AppsError(.bundleDamaged, "\(application): \(error)")
    }
  }

  /// Compares the digest of every executable with the signed one.
  /// - Throws: `AppsError`: `executableMissing`, `executableChanged`.
  package static func prove(_ bundle: Bundle) throws {
    try SignedManifestFile.prove(bundle.signed.manifest, in: bundle.directory)
  }

  func proveExecutables(of bundle: Bundle) throws {
    if hasExecutables { try Self.prove(bundle) }
  }

  /// nil if the app has no container.
  package func containerPath(of application: String) throws -> String? {
    try data.container(FileName(application))?.directory.path
  }

  // MARK: All apps

  /// The state of an app, for listing.
  package struct Entry {
    package enum State: String { case installed, removed, damaged }
    package let pin: AppPin
    package let state: State
    /// The reason why the app is damaged; nil otherwise.
    package let problem: (any Error)?
  }

  /// Every app in the vault, including removed ones.
  package func entries(in vault: borrowing some AppRecords & ~Copyable) throws -> [Entry] {
    try vault.pins().map { pin in
      guard pin.removed == nil else { return Entry(pin: pin, state: .removed, problem: nil) }
      let problem = problem(with: pin)
      return Entry(pin: pin, state: problem == nil ? .installed : .damaged, problem: problem)
    }
  }

  /// The reason why the app is damaged. The executables are not read.
  package func problem(with pin: AppPin) -> (any Error)? {
    do {
      guard let bundle = try bundle(pin.applicationIdentifier) else {
        return AppsError(.bundleDamaged, "\(pin.applicationIdentifier): its directory is gone")
      }
      guard bundle.signed.manifest.version == pin.version else {
        return AppsError(.bundleDamaged, "version \(bundle.signed.manifest.version) lies in the place of \(pin.version)")
      }
      return nil
    } catch {
      return error
    }
  }

  /// The app with this name: `TEAM.identifier`, or the identifier alone if only one team has it.
  /// - Throws: `AppsError`: `appUnknown`, `severalApps`.
  package func pin(named name: String, in vault: borrowing some AppRecords & ~Copyable) throws -> AppPin {
    if let pin = try vault.pin(name) { return pin }
    let found = try vault.pins().filter { $0.identifier.text.utf8.elementsEqual(name.utf8) }
    guard let first = found.first else { throw AppsError(.appUnknown, name) }
    guard found.count == 1 else {
      throw AppsError(.severalApps, found.map(\.applicationIdentifier).joined(separator: ", "))
    }
    return first
  }

  /// Whether another installed app has this application group. An app whose manifest cannot be read counts, because it may have
  /// it.
  func hasMember(
    _ group: AccessGroup, besides application: String, in vault: borrowing some AppRecords & ~Copyable
  ) throws -> Bool {
    for pin in try vault.pins() where pin.removed == nil && pin.applicationIdentifier != application {
      guard let bundle = try? bundle(pin.applicationIdentifier) else { return true }
      if bundle.signed.manifest.applicationGroups.contains(group) { return true }
    }
    return false
  }
}
