package import AccessRights
package import AppContainers
import CLinux
import CofferApps
import CofferFiles
package import CofferRequests
import Glibc
import Synchronization

/// Identifies the program of a process, and reads the manifests of apps.
package protocol ProgramDirectory: Sendable {
  /// - Throws: `Peer.Failure`: `gone`; `FileError` where the apps cannot be read.
  func identify(_ peer: Peer) throws -> ProgramIdentity
  /// The manifest of an installed app, as it is on the disk now.
  /// - Throws: as `identify`; what is wrong with the manifest.
  func manifest(of application: String) throws -> SignedManifest?
}

/// Finds out what the program of a peer is, from the kernel and from the apps that are installed.
package final class Programs: ProgramDirectory {
  /// A signed executable of an installed app.
  private struct Signed {
    let application: String
    /// The file in the app's directory.
    let device: UInt64
    let inode: UInt64
  }

  /// A look at the file that a process runs.
  struct Look: Sendable {
    /// On a local file system: the file as it was.
    let file: FileKey
    /// How often the apps had been read.
    let apps: UInt64
    let path: String
    let result: ProgramIdentity
  }

  private struct Registry {
    var directory: OpenDirectory?
    var state: FileKey?
    /// How often it was read.
    var count: UInt64 = 0
    var apps = Signatures()
  }

  /// The signed manifests.
  private struct Signatures {
    var byDigest: [[UInt8]: [Signed]] = [:]
    /// How long each is; nil: not known. A file of another length need not be read.
    var sizes: Set<Int64>?
  }

  private let data: DataDirectory
  private let command: String?
  private let own: @Sendable (OwnProgram) -> [String]
  /// Else the manifests alone are here, and where an app's own executables lie is not known.
  private let hasExecutables: Bool
  private let digests = ProgramDigests()
  /// In bytes. To read it takes a third of a second, once for each file.
  private static let longestProgram: Int64 = 256 << 20
  private let registry = Guarded(Registry())

  /// - Parameters:
  ///   - command: The path of `coffer`; nil if there is none.
  ///   - own: The paths at which a program of Coffer may lie.
  package init(
    in data: DataDirectory, command: String?, own: @escaping @Sendable (OwnProgram) -> [String] = { _ in [] },
    hasExecutables: Bool = true
  ) {
    self.data = data
    self.own = own
    self.hasExecutables = hasExecutables
    self.command = command
  }

  package func identify(_ peer: Peer) throws -> ProgramIdentity {
    let program = try program(of: peer)
    let isInOtherNamespace = try peer.isInOtherNamespace()
    guard isInOtherNamespace != false else { return program }
    // The same holds for Flatpak's file, which a program outside of any sandbox can imitate; nothing else in it is trusted.
    if let identifier = try ProcessContext.flatpak(of: peer) { return .flatpak(identifier) }
    guard isInOtherNamespace != nil else { return .unknown("it cannot be read") }
    return .unknown("it is in a container: its requests could be anybody's there")
  }

  private func program(of peer: Peer) throws -> ProgramIdentity {
    let (signed, apps) = try current()
    if let known = peer.known.withLock({ $0 }), known.apps == apps, let program = try program(of: peer, known) { return program }
    guard let executable = try peer.executable() else { return .unknown("it cannot be read") }
    let descriptor = executable.number
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return .unknown("it cannot be read") }
    let file = FileKey(status)
    let path = Peer.path(of: descriptor)
    peer.path.withLock { $0 = path }
    let origin = FileOrigin(of: descriptor)
    func remembered(_ result: ProgramIdentity) -> ProgramIdentity {
      if origin == .local { peer.known.withLock { $0 = Look(file: file, apps: apps, path: path, result: result) } }
      return result
    }
    if origin != .program, let application = application(descriptor, status, signed, of: peer) {
      return remembered(.app(application))
    }
    if let program = own(file) ?? replaced(file, of: peer) { return remembered(program) }
    if let name = try ProcessContext.unit(of: peer) { return .unit(name) }
    if Interpreters.contain(path) { return remembered(.interpreter(path: path)) }
    guard origin == .local, status.st_size <= Self.longestProgram,
      let digest = digests.digest(of: descriptor, status, while: { peer.isAlive })
    else { return .unknown(path) }
    return remembered(.program(path: path, digest: GrantedProgram.digestText(digest)))
  }

  /// The same unchanged file, and the same apps: it is what it was. Its place, what lies at Coffer's paths, and the unit may have
  /// changed.
  /// - Returns: nil if the file is to be opened.
  private func program(of peer: Peer, _ known: Look) throws -> ProgramIdentity? {
    guard try peer.executableKey() == known.file else { return nil }
    if case .app = known.result { return known.result }
    if let program = own(known.file) { return program }
    switch known.result {
    case .program, .interpreter:
      guard peer.executablePath == known.path else { return nil }
      if let name = try ProcessContext.unit(of: peer) { return .unit(name) }
      return known.result
    case .app, .command, .own, .unit, .flatpak, .client, .unknown: return nil
    }
  }

  /// A program of Coffer that this process has been since before an upgrade put another file in its place. The process runs the same
  /// file as at its former request: only a process that becomes another program lets go of it, and only then its number is free.
  private func replaced(_ file: FileKey, of peer: Peer) -> ProgramIdentity? {
    guard let known = peer.known.withLock({ $0 }), case .own = known.result, known.file.device == file.device,
      known.file.inode == file.inode, peer.isAlive
    else { return nil }
    return known.result
  }

  private func own(_ file: FileKey) -> ProgramIdentity? {
    if let command, Self.isFile(file, at: command) { return .command }
    return OwnProgram.allCases.first { own($0).contains { Self.isFile(file, at: $0) } }.map { .own($0) }
  }

  // MARK: Apps

  package func manifest(of application: String) throws -> SignedManifest? {
    guard let bundle = try data.apps().directory(FileName(application)) else { return nil }
    return try ProgramOfApp.manifest(inDirectory: bundle, named: application)
  }

  private func application(_ descriptor: Int32, _ status: stat, _ signatures: Signatures, of peer: Peer) -> String? {
    guard !signatures.byDigest.isEmpty, signatures.sizes?.contains(Int64(status.st_size)) ?? true,
      let digest = digests.digest(of: descriptor, status, while: { peer.isAlive }), let found = signatures.byDigest[digest]
    else { return nil }
    if hasExecutables, let here = found.first(where: { $0.device == UInt64(status.st_dev) && $0.inode == UInt64(status.st_ino) })
    {
      return here.application
    }
    // A copy elsewhere is the same program. Where several apps have it, nothing says which one it is.
    return Set(found.map(\.application)).count == 1 ? found[0].application : nil
  }

  /// The manifests, read again when the directory of apps has changed: each installation renames a file in it.
  /// - Returns: Also how often that was, which tells two readings apart.
  private func current() throws -> (signatures: Signatures, count: UInt64) {
    // One that was removed is no app's directory any more.
    let held = registry.withLock { registry -> (OpenDirectory, FileKey, Signatures, UInt64)? in
      guard let directory = registry.directory, let state = registry.state else { return nil }
      return (directory, state, registry.apps, registry.count)
    }
    if let (directory, state, signatures, count) = held, Self.state(of: directory) == state { return (signatures, count) }
    let directory = try data.apps()
    let state = Self.state(of: directory)
    var signatures = Signatures(sizes: hasExecutables ? [] : nil)
    for name in try directory.names() {
      guard "\(name)".utf8.first != UInt8(ascii: "."), let bundle = try directory.directory(name),
        let signed = try? ProgramOfApp.manifest(inDirectory: bundle, named: "\(name)")
      else { continue }
      for executable in signed.manifest.executables {
        guard hasExecutables else {
          signatures.byDigest[executable.digest, default: []].append(Signed(application: "\(name)", device: 0, inode: 0))
          continue
        }
        guard let file = try? bundle.file(RelativePath(executable.path)) else { continue }
        var own = stat()
        guard unsafe fstat(file.number, &own) == 0 else { continue }
        signatures.sizes?.insert(Int64(own.st_size))
        signatures.byDigest[executable.digest, default: []].append(
          Signed(application: "\(name)", device: UInt64(own.st_dev), inode: UInt64(own.st_ino)))
      }
    }
    return registry.withLock { registry in
      registry = Registry(directory: directory, state: state, count: registry.count + 1, apps: signatures)
      return (signatures, registry.count)
    }
  }

  /// Returns nil if it does not exist any more.
  private static func state(of directory: OpenDirectory) -> FileKey? {
    var status = stat()
    guard unsafe fstat(directory.number, &status) == 0, status.st_nlink > 0 else { return nil }
    return FileKey(status)
  }

  // MARK: Others

  private static func isFile(_ file: FileKey, at path: String) -> Bool {
    var other = stat()
    guard unsafe stat(path, &other) == 0 else { return false }
    return UInt64(other.st_dev) == file.device && UInt64(other.st_ino) == file.inode
  }
}
