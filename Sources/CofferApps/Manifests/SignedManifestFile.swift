package import AccessRights
internal import AppContainers
package import CofferFiles
import CofferPropertyLists
package import VaultCore

/// A signed manifest as a file: the person's manifest with the team's key, the digests of the executables and the signature.
package enum SignedManifestFile {
  /// The name of the file in an app's directory.
  package static let name = "Manifest.plist"

  /// Reads a manifest and verifies its signature.
  /// - Throws: `AppsError`: `manifestUnreadable`, `manifestField`, `manifestNotSigned`. `VaultError`: `teamMalformed`,
  ///   `manifestForged`, `manifestTeam`, and the rules of manifests.
  package static func read(_ bytes: [UInt8]) throws -> SignedManifest {
    let file = try ManifestFile(bytes)
    guard file.isSigned else { throw AppsError(.manifestNotSigned) }
    guard case .data(let key)? = file.signedPart[ManifestFile.Key.teamKey],
      case .data(let signature)? = file.signedPart[ManifestFile.Key.signature],
      case .dictionary(let values)? = file.signedPart[ManifestFile.Key.digests]
    else { throw AppsError(.manifestField, "TeamKey, Signature or Digests is missing, or of another type") }
    var digests: [String: [UInt8]] = [:]
    for (path, value) in values.sorted {
      guard case .data(let digest) = value else { throw AppsError(.manifestField, "Digests: \(path) is not data") }
      digests[path] = digest
    }
    // A digest without an executable would not be covered by the signature.
    guard digests.count == file.executables.count, values.count == digests.count else {
      throw AppsError(.manifestField, "Digests: not one for each executable")
    }
    let teamKey = try TeamKey(key)
    return try SignedManifest(file.manifest(of: teamKey.identifier, digests: digests), teamKey: teamKey, signature: signature)
  }

  /// The name of the app's store of synchronised settings; nil if the file names none.
  /// - Parameters:
  ///   - bytes: A signed manifest.
  ///   - signed: The manifest, as `read` gave it.
  /// - Throws: As `read`.
  package static func store(in bytes: [UInt8], of signed: SignedManifest) throws -> String? {
    try ManifestFile(bytes).store(of: signed.manifest)
  }

  /// - Parameters:
  ///   - signed: The manifest.
  ///   - store: The name of the app's store of synchronised settings.
  /// - Throws: `PropertyListError` if XML cannot represent a text.
  package static func write(_ signed: SignedManifest, store: String? = nil) throws -> [UInt8] {
    typealias Key = ManifestFile.Key
    let manifest = signed.manifest
    var digests = PropertyListDictionary()
    var executables: [PropertyListValue] = []
    for executable in manifest.executables {
      var entry = PropertyListDictionary()
      entry[Key.path] = .string(executable.path)
      entry[Key.role] = .string(executable.role.name)
      executables.append(.dictionary(entry))
      digests[executable.path] = .data(executable.digest)
    }
    func names(_ groups: [AccessGroup]) -> PropertyListValue { .array(groups.map { .string($0.name) }) }
    var file = PropertyListDictionary()
    file[Key.identifier] = .string(manifest.identifier.text)
    file[Key.displayName] = .string(manifest.displayName)
    file[Key.version] = .number(manifest.version)
    file[Key.team] = .string(manifest.team.text)
    file[Key.executables] = .array(executables)
    file[Key.keychainGroups] = names(manifest.keychainAccessGroups)
    file[Key.applicationGroups] = names(manifest.applicationGroups)
    file[Key.store] = store.map { .string($0) }
    file[Key.digests] = .dictionary(digests)
    file[Key.teamKey] = .data(signed.teamKey.bytes)
    file[Key.signature] = .data(signed.signature)
    return try PropertyList.write(.dictionary(file), .xml)
  }

  /// Signs a person's manifest with the present content of the executables in a directory.
  /// - Throws: `AppsError`: `executableMissing`. `VaultError`: the rules of manifests. `FileError`.
  package static func sign(_ file: ManifestFile, executablesIn directory: OpenDirectory, with key: borrowing TeamSigningKey)
    throws
    -> SignedManifest
  {
    let manifest = try unsigned(file, of: key.publicKey.identifier, executablesIn: directory)
    return try SignedManifest(signing: manifest, with: key)
  }

  /// The manifest to be signed, with the present digests.
  package static func unsigned(_ file: ManifestFile, of team: TeamIdentifier, executablesIn directory: OpenDirectory) throws
    -> Manifest
  {
    var digests: [String: [UInt8]] = [:]
    for executable in file.executables {
      digests[executable.path] = try ExecutableContent.open(executable.path, in: directory).digest()
    }
    return try file.manifest(of: team, digests: digests)
  }

  /// Compares the digest of every executable with the signed one.
  /// - Throws: `AppsError`: `executableMissing`, `executableChanged`.
  package static func prove(_ manifest: Manifest, in directory: OpenDirectory) throws {
    for executable in manifest.executables {
      guard try ExecutableContent.open(executable.path, in: directory).digest() == executable.digest else {
        throw AppsError(.executableChanged, executable.path)
      }
    }
  }
}

/// An executable file of an app.
struct ExecutableContent {
  private let file: OpenFile

  /// - Throws: `manifestField`, `executableMissing`; `FileError`: `symbolicLink`, `notAFile`, errors of the system.
  static func open(_ path: String, in directory: OpenDirectory) throws -> ExecutableContent {
    guard let place = try? RelativePath(path) else {
      throw AppsError(.manifestField, "Path: \(path) does not lead down from the directory of the manifest")
    }
    guard let file = try directory.file(place) else { throw AppsError(.executableMissing, path) }
    return ExecutableContent(file: file)
  }

  /// Whether the kernel runs the interpreter that the first line names.
  var isScript: Bool {
    get throws(FileError) { try file.read(upTo: 2).elementsEqual("#!".utf8) }
  }

  /// - Parameter copy: Called with each piece of the file, so that exactly the hashed bytes are copied.
  func digest(_ copy: ([UInt8]) throws -> Void = { _ in }) throws -> [UInt8] {
    var digest = try ContentDigest()
    while true {
      let part = try file.read(upTo: 1 << 18)
      if part.isEmpty { return digest.finish() }
      digest.update(part)
      try copy(part)
    }
  }
}
