import AppContainers
import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferStorage
import CofferSync
import EtcdEngine
import SyncEngines
import VaultCore
import VaultSync

/// The space that a command is about.
struct SpaceOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The space, if this vault is in several.", valueName: "id"))
  var space: String?

  func identifier() throws -> Identifier? {
    guard let space else { return nil }
    guard let identifier = Identifier(hexadecimal: space) else {
      throw Failure.usage("--space \(space): is not an identifier of 32 digits", hint: "coffer sync status shows it")
    }
    return identifier
  }

  func session(isLocked: Bool = true) throws -> SpaceSession {
    try OpenSpace.session(identifier(), in: OpenSpace.keychain(), isLocked: isLocked)
  }

  /// The personal space of the vault, which has settings: there is one at most.
  /// - Throws: `notPersonal`.
  func personalSession(isLocked: Bool = true) throws -> SpaceSession {
    let keychain = try OpenSpace.keychain()
    let spaces = try DeviceKeys.spaces(in: keychain)
    guard space == nil, spaces.count > 1 else {
      let session = try session(isLocked: isLocked)
      try session.requirePersonal()
      return session
    }
    // The files of each have a lock until its session has gone.
    for space in spaces {
      let session = try OpenSpace.session(space, in: keychain, isLocked: isLocked)
      if session.state.settings.isPersonal { return session }
    }
    throw SyncError(.notPersonal)
  }

  /// Removes the files, also if they are missing or damaged, and then the keys from the vault. Keys that do not open are removed if the
  /// space is named; the files stay.
  /// - Returns: The keys, if they open.
  func forget() throws -> DeviceKeys? {
    let keychain = try OpenSpace.keychain()
    let identifier = try identifier()
    let keys: DeviceKeys
    do {
      keys = try DeviceKeys(of: identifier, in: keychain)
    } catch let error as SyncError where error.code == .keysUnavailable {
      guard let identifier else { throw error }
      try DeviceKeys.discard(of: identifier, from: keychain)
      return nil
    }
    let files: StateFiles?
    do {
      files = try StateFiles(keys, in: OpenSpace.directory())
    } catch let error as SyncError where error.code == .stateMissing {
      files = nil
    }
    try files?.remove()
    try keys.remove(from: keychain)
    return keys
  }

  /// One after the other: the files of each have a lock, unless they are read alone.
  func sessions(isLocked: Bool = true) throws -> [() throws -> SpaceSession] {
    let keychain = try OpenSpace.keychain()
    let spaces = try identifier().map { [$0] } ?? DeviceKeys.spaces(in: keychain)
    guard !spaces.isEmpty else { throw try DeviceKeys.noSpace(in: keychain) }
    return spaces.map { space in { try OpenSpace.session(space, in: keychain, isLocked: isLocked) } }
  }
}

enum OpenSpace {
  /// The vault of the agent: nothing here asks for a passphrase.
  static func keychain() throws -> Keychain {
    let keychain = try connect(visibility: Visibility(isForEachRequest: true))
    do {
      guard try !keychain.isLocked else { throw Failure(.locked, "the vault is locked", hint: unlocking) }
    } catch let error as KeychainError where error.code == .agent {
      throw Failure(.locked, "no agent has a vault open", hint: "\(unlocking); if there is no vault yet: coffer init")
    }
    Hardening.hide()
    return keychain
  }

  /// The keychain, also if the vault is locked or no agent runs.
  static func connect(visibility: Visibility) throws -> Keychain {
    // The owner of such a vault decides for each program, and no log of others writes into it.
    guard try !SystemAgent.isUsed(environment: { Environment[$0] }) else {
      throw Failure.usage("a vault of the system's agent is not shared", hint: "with a vault of your own: coffer init")
    }
    return try Keychain.connect(visibility: visibility)
  }

  /// - Parameter isLocked: False to read the state alone, also while `coffer sync watch` waits for the engine.
  static func session(_ space: Identifier?, in keychain: Keychain, isLocked: Bool = true) throws -> SpaceSession {
    describing(try SpaceSession(space, in: keychain, files: directory(), isLocked: isLocked))
  }

  /// A session that notes the errors of passes in words.
  static func describing(_ session: SpaceSession) -> SpaceSession {
    session.describe = { (Failure($0).message, ($0 as? EngineFailure)?.isOfSpace == true) }
    return session
  }

  /// The states of all spaces of a vault.
  /// - Parameter space: One that is left out: its files are open.
  static func states(in keychain: Keychain, except space: Identifier? = nil) throws -> [LocalState] {
    try DeviceKeys.spaces(in: keychain).filter { $0 != space }.map { try session($0, in: keychain).state }
  }

  /// The state directory of the user.
  static func directory() throws -> String { try Places(environment: { Environment[$0] }).state }

  private static let unlocking = "coffer unlock"

  static func address(_ text: String) throws -> EngineAddress {
    guard let address = EngineAddress(text) else { throw SyncError(.addressMalformed, text) }
    return address
  }

  /// - Throws: `EngineFailure`, as all calls of the engine.
  static func connect(
    _ address: EngineAddress, _ space: Identifier, _ purpose: EngineAddress.Purpose = .existing
  ) throws(EngineFailure) -> ReachedEngine {
    do {
      let engine = try address.connect(space, purpose) { line in
        // The other machine may write what it likes.
        Descriptor.error.note("\(line.escapingControls())\n")
      } etcd: { endpoints in
        try EtcdEngine(endpoints, EtcdCertificates(in: certificates()), space: space, purpose)
      }
      return ReachedEngine(engine, address)
    } catch {
      throw EngineFailure(error, address)
    }
  }
}

extension OpenSpace {
  /// The directory of the certificates for etcd: `etcd` in COFFER_HOME, else in the user's directory of configuration.
  static func certificates() throws -> String {
    let directories = try UserDirectories(environment: { Environment[$0] })
    guard let configuration = try directories.configurationDirectory() else {
      return Path.join(try directories.dataDirectory(), "etcd")
    }
    return Path.join(configuration, "coffer/etcd")
  }
}

extension SpaceSession {
  func connect() throws -> ReachedEngine { try OpenSpace.connect(OpenSpace.address(state.engine), keys.space) }

  /// As `finish`, with the settings of the stores that the person has allowed, and what the first pass has left for another one.
  func finishWithSettings() throws -> (SyncReport, SettingsExchange.Report) {
    let engine = try connectIfThere()
    var (report, settings) = try ChangedEntry.naming(in: self, engine) {
      try synchronise(with: engine, settings: SettingStores.allowed(by: self))
    }
    if !report.open.isEmpty { report.add(try synchronise(with: engine, changes: report.open)) }
    return (report, settings)
  }

  /// Appends what a command has changed.
  /// - Parameter inspects: Whether the engine is searched for what it has lost.
  /// - Throws: `EngineFailure`: then it is appended with the next `coffer sync now`.
  func finish(inspects: Bool = false) throws -> SyncReport {
    let engine = try connectIfThere()
    return try ChangedEntry.naming(in: self, engine) { try synchronise(with: engine, inspects: inspects) }
  }

  /// If the engine is away, the changes of the vault become pending ones, with the time and the values of now.
  private func connectIfThere() throws -> any Engine {
    do { return try connect() } catch let failure as EngineFailure { return MissingEngine(failure) }
  }
}
