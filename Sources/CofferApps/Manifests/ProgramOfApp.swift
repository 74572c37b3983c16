package import AccessRights
package import AppContainers
package import CofferFiles
internal import VaultCore

/// Identifies a program of an app by its location: in the app's directory, with the signed content.
package enum ProgramOfApp {
  /// The manifest of the app to which an executable belongs. nil if it is not in an app's directory.
  ///
  /// An interpreter is never identified as an app, whichever script it runs.
  /// - Parameter path: An absolute path without symbolic links, as given by the kernel.
  /// - Throws: `AppsError`: `bundleDamaged`, also if the manifest does not name the executable; `executableChanged`;
  ///   `FileError`.
  package static func manifest(of path: String) throws -> SignedManifest? {
    let parts = path.split(separator: "/").map(String.init)
    for count in parts.indices.dropFirst().reversed() where isApplication(parts[count - 1]) {
      let directory = try OpenDirectory.foreign("/" + parts[..<count].joined(separator: "/"))
      guard let bytes = try directory.contents(FileName(SignedManifestFile.name), limit: ManifestFile.maximumByteCount) else {
        continue
      }
      let signed = try SignedManifestFile.read(bytes)
      let name = parts[count - 1]
      guard signed.manifest.applicationIdentifier.utf8.elementsEqual(name.utf8) else {
        throw AppsError(.bundleDamaged, "\(name): with the manifest of \(signed.manifest.applicationIdentifier)")
      }
      let relative = parts[count...].joined(separator: "/")
      guard let executable = signed.manifest.executables.first(where: { $0.path.utf8.elementsEqual(relative.utf8) }) else {
        throw AppsError(.bundleDamaged, "\(name): its manifest does not name \(relative)")
      }
      guard try ExecutableContent.open(relative, in: directory).digest() == executable.digest else {
        throw AppsError(.executableChanged, relative)
      }
      return signed
    }
    return nil
  }

  /// The manifest in the directory of an installed app, with its signature verified, if it is this app's.
  /// - Throws: `AppsError`: `bundleDamaged`; those of `SignedManifestFile.read`; `FileError`.
  package static func manifest(inDirectory directory: OpenDirectory, named name: String) throws -> SignedManifest {
    try read(directory, named: name).signed
  }

  /// The name of an installed app's store of synchronised settings; nil if there is no such app, or if its manifest names none.
  /// - Parameters:
  ///   - application: `TEAM.identifier`.
  ///   - data: The user's data directory.
  /// - Throws: As `manifest(inDirectory:named:)`.
  package static func store(of application: String, in data: DataDirectory) throws -> String? {
    guard let directory = try data.apps().directory(FileName(application)) else { return nil }
    let (bytes, signed) = try read(directory, named: application)
    return try SignedManifestFile.store(in: bytes, of: signed)
  }

  private static func read(_ directory: OpenDirectory, named name: String) throws -> (bytes: [UInt8], signed: SignedManifest) {
    guard let bytes = try directory.contents(FileName(SignedManifestFile.name), limit: ManifestFile.maximumByteCount) else {
      throw AppsError(.bundleDamaged, "\(name): without its manifest")
    }
    let signed = try SignedManifestFile.read(bytes)
    guard signed.manifest.applicationIdentifier.utf8.elementsEqual(name.utf8) else {
      throw AppsError(.bundleDamaged, "\(name): with the manifest of \(signed.manifest.applicationIdentifier)")
    }
    return (bytes, signed)
  }

  /// The manifest in a file, with its signature verified.
  package static func manifest(inFile path: String) throws -> SignedManifest {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
      throw AppsError(.bundleDamaged, path)
    }
    let directory = try OpenDirectory.foreign(String(path[..<slash]))
    let name = try FileName(String(path[path.utf8.index(after: slash)...]))
    guard let bytes = try directory.contents(name, limit: ManifestFile.maximumByteCount) else {
      throw AppsError(.bundleDamaged, "\(path): has no manifest")
    }
    return try SignedManifestFile.read(bytes)
  }

  /// `TEAM.identifier`.
  private static func isApplication(_ name: String) -> Bool {
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")), (try? TeamIdentifier(String(name[..<dot]))) != nil else {
      return false
    }
    return (try? AppIdentifier(String(name[name.utf8.index(after: dot)...]))) != nil
  }
}
