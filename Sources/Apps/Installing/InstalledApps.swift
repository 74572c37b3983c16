package import AppContainers
package import VaultCore

/// The apps of a user: in `Apps` their executables and manifests, in the vault what stays of them, and their containers.
///
/// The vault decides: an app is installed when its pin says so. Files are made ready before the pin is written, and put in place after;
/// whoever comes next finishes or undoes what a kill has left. Holds the lock on `Apps` for as long as it lives, so that nobody does so
/// meanwhile.
package struct InstalledApps {
  let data: DataDirectory
  /// `Apps`.
  let directory: OpenDirectory
  /// Else the manifests alone are kept here: executables and containers lie with the user, and are another's to put in place.
  let hasExecutables: Bool
  private let lock: DirectoryLock

  /// - Throws: `ContainerError`: `busy` where another process installs or removes for longer than a person waits.
  package init(in data: DataDirectory, hasExecutables: Bool = true) throws(ContainerError) {
    self.data = data
    self.hasExecutables = hasExecutables
    directory = try data.apps()
    lock = try DirectoryLock(of: directory)
  }

  // MARK: One app

  /// The files of an installed app, proven.
  package struct Bundle {
    package let signed: SignedManifest
    package let directory: OpenDirectory
  }

  /// What the manifest says that lies in the app's directory. Nil where there is no directory.
  /// - Throws: `AppsError`: `bundleDamaged`, also where it is the manifest of another app.
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
      return Bundle(signed: signed, directory: directory)
    } catch let error as AppsError where error.code == .bundleDamaged {
      throw error
    } catch let error as ContainerError {
      throw error
    } catch let error as VaultError where error.code == .outOfMemory {
      throw error
    } catch {
      throw AppsError(.bundleDamaged, "\(application): \(error)")
    }
  }

  /// Compares every executable with what was signed.
  /// - Throws: `AppsError`: `executableMissing`, `executableChanged`.
  package static func prove(_ bundle: Bundle) throws {
    try SignedManifestFile.prove(bundle.signed.manifest, in: bundle.directory)
  }

  func proveExecutables(of bundle: Bundle) throws {
    if hasExecutables { try Self.prove(bundle) }
  }

  /// Nil where it has none.
  package func containerPath(of application: String) throws -> String? {
    try data.container(FileName(application))?.directory.path
  }

  // MARK: All of them

  /// What an app is, as a list shows it.
  package struct Entry {
    package enum State: String { case installed, removed, damaged }
    package let pin: AppPin
    package let state: State
    /// What is wrong, where something is.
    package let problem: (any Error)?
  }

  /// Every app that the vault knows, also those that were removed.
  package func entries(in vault: borrowing some AppRecords & ~Copyable) throws -> [Entry] {
    try vault.pins().map { pin in
      guard pin.removed == nil else { return Entry(pin: pin, state: .removed, problem: nil) }
      let problem = problem(with: pin)
      return Entry(pin: pin, state: problem == nil ? .installed : .damaged, problem: problem)
    }
  }

  /// The executables are not read.
  package func problem(with pin: AppPin) -> (any Error)? {
    do {
      guard let bundle = try bundle(pin.applicationIdentifier) else {
        return AppsError(.bundleDamaged, "\(pin.applicationIdentifier): its directory is gone")
      }
      guard bundle.signed.manifest.version == pin.version else {
        return AppsError(.bundleDamaged, "version \(bundle.signed.manifest.version) lies where \(pin.version) was installed")
      }
      return nil
    } catch {
      return error
    }
  }

  /// The app that a person names: `TEAM.identifier`, or the identifier alone where one team has it.
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

  /// Whether another installed app has this application group. One whose manifest cannot be read may have it.
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
