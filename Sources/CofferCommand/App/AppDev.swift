import AccessRights
import AppContainers
import ArgumentParser
import CofferApps
import CofferConsole
import CofferFiles
import CofferStorage
import Glibc
import SecretMemory
import VaultCore

struct AppDev: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dev", abstract: "Run a program that is being developed as an app of a team that is thrown away.",
    discussion: """
      For `swift run` and `swift test`: the program and what it starts find a vault that is open for them, a container and the groups \
      that are named here, and by coffer and its libraries nothing of yours; HOME stays. All of it is gone afterwards, unless --home \
      names a place where it stays. Ends with the program's exit status.
      """)

  @Option(help: ArgumentHelp("The app's identifier.", valueName: "id"))
  var identifier = "com.example.development"

  @Option(
    name: .customLong("keychain-group"), parsing: .singleValue,
    help: ArgumentHelp("A group of the keychain, without the team's name. May be repeated.", valueName: "name"))
  var keychainGroups: [String] = []

  @Option(
    name: .customLong("application-group"), parsing: .singleValue,
    help: ArgumentHelp("A group with a container, without the team's name. May be repeated.", valueName: "name"))
  var applicationGroups: [String] = []

  @Option(help: ArgumentHelp("A directory that keeps vault, team and container.", valueName: "directory"), completion: .directory)
  var home: String?

  @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.")
  var command: [String] = []

  func run() throws {
    guard !command.isEmpty else { throw Failure.usage("dev: no program", hint: "coffer app dev -- swift test") }
    let status: Int32
    do {
      let signals = try ChildProcess.blockSignals()
      let place = try DevelopmentHome(home)
      defer { place.remove() }
      for (name, value) in try place.prepare(identifier, keychainGroups, applicationGroups) { unsafe setenv(name, value, 1) }
      status = try ChildProcess.run(command, signals)
    } catch let failure as Failure where failure.status == .usage {
      throw failure
    } catch {
      Descriptor.error.note(Failure(error).text)
      status = Launch.notStarted
    }
    Glibc.exit(status)
  }
}

/// The directory in which all of it lies.
private struct DevelopmentHome {
  let path: String
  private let isThrownAway: Bool

  /// The length of the team's key and of the vault's key file, in bytes.
  private static let keyByteCount = 32

  init(_ given: String?) throws {
    isThrownAway = given == nil
    if let given {
      path = try Self.absolute(given)
      return
    }
    let temporary = try Environment["TMPDIR"].map { try Self.absolute($0) } ?? "/tmp"
    var template = Array((Path.join(temporary, "coffer-dev.XXXXXX") + "\0").utf8CString)
    guard let made = unsafe mkdtemp(&template) else { throw SystemError.last.failure("the directory for temporary files") }
    path = unsafe String(cString: made)
  }

  private static func absolute(_ path: String) throws -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : Path.join(try workingDirectory(), path)
  }

  private static func workingDirectory() throws -> String {
    guard let directory = unsafe getcwd(nil, 0) else { throw SystemError.last.failure("the working directory") }
    defer { unsafe free(directory) }
    return unsafe String(cString: directory)
  }

  func remove() {
    guard isThrownAway, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return }
    do {
      let parent = try OpenDirectory.foreign(String(path[...slash]))
      try parent.removeTree(FileName(String(path[path.utf8.index(after: slash)...])))
    } catch {
      Descriptor.error.note("coffer: warning: \(path.escapingControls()): stays there: \(Failure(error).message)\n")
    }
  }

  /// Team, vault, app and container, those that are not there yet.
  /// - Returns: The environment variables that refer to them.
  func prepare(_ identifier: String, _ keychainGroups: [String], _ applicationGroups: [String]) throws -> [(String, String)] {
    let data = try about(path) { try DataDirectory(at: path) }
    let team = try TeamSigningKey(seed: secretFile("team.key", in: data.root))
    let signed = try about(identifier) { try sign(identifier, keychainGroups, applicationGroups, with: team) }
    let credentials = try data.root.makeDirectory(FileName("credentials"))
    var vault = try openVault(secretFile(ServiceCredentials.keyFile, in: credentials))
    _ = try vault.transaction { try $0.install(signed, at: .now()) }
    vault.finish()
    let manifest = try write(signed, in: data.root)
    let container = try data.makeContainer(FileName(signed.manifest.applicationIdentifier))
    let groups = try signed.manifest.applicationGroups.map { try data.makeGroup(FileName($0.name)).path }
    return [
      ("COFFER_HOME", path), (ServiceCredentials.directoryVariable, credentials.path), (RunningApp.manifestVariable, manifest),
      (RunningApp.applicationVariable, signed.manifest.applicationIdentifier),
      (RunningApp.containerVariable, container.directory.path), (RunningApp.groupsVariable, groups.joined(separator: "\n")),
      (RunningApp.storeVariable, signed.manifest.applicationIdentifier),
    ]
  }

  /// One executable has to be there; nothing is ever compared with it.
  private func sign(
    _ identifier: String, _ keychainGroups: [String], _ applicationGroups: [String], with team: borrowing TeamSigningKey
  ) throws -> SignedManifest {
    let name = team.publicKey.identifier
    func groups(_ names: [String]) throws -> [AccessGroup] { try names.map { try AccessGroup("\(name).\($0)") } }
    let program = Manifest.Executable(
      path: "development", role: .app, digest: [UInt8](repeating: 0, count: ContentDigest.byteCount))
    let manifest = try Manifest(
      team: name, identifier: AppIdentifier(identifier), displayName: identifier, version: 1, executables: [program],
      keychainAccessGroups: groups(keychainGroups), applicationGroups: groups(applicationGroups))
    return try SignedManifest(signing: manifest, with: team)
  }

  /// A file of random bytes, created if it does not exist.
  private func secretFile(_ name: String, in directory: OpenDirectory) throws -> Secret {
    let path = Path.join(directory.path, name)
    if unsafe access(path, F_OK) == 0 { return try .readingFile(.open(path)) }
    let secret = try Secret.random(count: Self.keyByteCount)
    let file = try Descriptor.create(path)
    try secret.withBytes { try file.write($0) }
    try file.synchronizeAndClose()
    return secret
  }

  private func openVault(_ key: consuming Secret) throws -> Vault {
    let file = Path.join(path, "vault.coffer")
    let credential = try Credential.keyFile(key)
    return try about(file) {
      guard unsafe access(file, F_OK) == 0 else {
        return try Vault.create(in: FileStore.create(at: file), with: credential, at: .now())
      }
      return try Vault.open(FileStore(at: file), with: credential)
    }
  }

  private func write(_ signed: SignedManifest, in directory: OpenDirectory) throws -> String {
    let name = try FileName("development.plist")
    try directory.removeTree(name)
    let file = try directory.makeFile(name)
    try file.write(SignedManifestFile.write(signed))
    return Path.join(directory.path, "\(name)")
  }
}
