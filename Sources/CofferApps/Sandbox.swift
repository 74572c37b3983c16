import AccessRights
package import AppContainers
package import CofferFiles
import VaultCore

/// The files that a program of an app can see: the system, read-only, the app's own files, its container and those of its groups,
/// and nothing else of the user's. Gives the arguments of bubblewrap, which sets this up.
package struct Sandbox {
  /// The paths of bubblewrap on the systems that have it.
  package static let programs = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"]

  /// The absolute path of the program that is started.
  package let program: String
  package let container: String
  let bundle: String
  let groups: [String]
  /// The name of the app's store of synchronised settings.
  let store: String?
  /// Directories of the user inside the visible part of the system, such as a home in `/opt`.
  let hidden: [String]

  private static let visible = ["/usr/", "/etc/", "/opt/"]

  /// The real paths of those directories that would be visible, without directories inside another one.
  ///
  /// Only directories that belong to the user: that of a system account may be `/usr/sbin`.
  static func hidden(_ directories: [String]) -> [String] {
    let real = Set(directories.compactMap { UserDirectories.realPathOfOwn($0) })
    let seen = real.filter { path in visible.contains { path.hasPrefix($0) } }
    return seen.filter { path in !seen.contains { path.hasPrefix($0 + "/") } }.sorted()
  }

  /// The arguments up to the program and its own arguments.
  /// - Parameter lock: A descriptor that stays open for the lifetime of the sandbox.
  package func arguments(lock: Int32?) throws(FileError) -> [String] {
    var words = ["--unshare-all", "--share-net", "--die-with-parent", "--new-session"]
    words += [
      "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--ro-bind-try", "/opt", "/opt", "--proc", "/proc", "--dev",
      "/dev",
    ]
    words += ["--tmpfs", "/tmp", "--tmpfs", "/run", "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"]
    let root = try OpenDirectory.foreign("/")
    for text in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"] {
      let name = try FileName(text)
      switch try root.kind(name) {
      case .link?: words += ["--symlink", String(decoding: try root.target(name), as: UTF8.self), "/\(text)"]
      case .directory?: words += ["--ro-bind", "/\(text)", "/\(text)"]
      default: break
      }
    }
    for directory in hidden { words += ["--tmpfs", directory] }
    words += ["--ro-bind", bundle, bundle]
    for place in [container] + groups { words += ["--bind", place, place] }
    if let lock { words += ["--sync-fd", "\(lock)"] }
    return words + ["--chdir", container, "--"]
  }

  /// The environment variables of the app: its directories in place of the user's.
  package func variables(of application: String) -> [(name: String, value: String)] {
    let support = container + "/Library/Application Support"
    return [
      (RunningApp.applicationVariable, application), (RunningApp.containerVariable, container),
      (RunningApp.groupsVariable, groups.joined(separator: "\n")), (RunningApp.storeVariable, store ?? ""), ("HOME", container),
      ("TMPDIR", container + "/tmp"),
      // Foundation takes the home directory from the user database, unless this variable is set.
      ("CFFIXED_USER_HOME", container),
      ("XDG_DATA_HOME", support), ("XDG_CONFIG_HOME", support), ("XDG_STATE_HOME", support),
      ("XDG_CACHE_HOME", container + "/Library/Caches"),
    ]
  }
}

extension InstalledApps {
  /// The sandbox for starting a program of an app, after the app's signature and the digests of all its executables were
  /// verified.
  /// - Parameters:
  ///   - path: The path of one of its executables. nil for the first one that a person can start.
  ///   - directories: Directories of the user that the program must not see, wherever they are.
  /// - Throws: `AppsError`: `appUnknown`, `bundleDamaged`, `executableUnknown`, `executableMissing`, `executableChanged`.
  package func sandbox(of application: String, executable path: String?, hiding directories: [String] = []) throws
    -> Sandbox
  {
    guard let bundle = try bundle(application) else { throw AppsError(.appUnknown, application) }
    try Self.prove(bundle)
    let manifest = bundle.signed.manifest
    let chosen =
      path.map { path in manifest.executables.first { $0.path.utf8.elementsEqual(path.utf8) } }
      ?? manifest.executables.first { $0.role == .app } ?? manifest.executables.first { $0.role == .tool }
    guard let chosen else {
      let paths = manifest.executables.map(\.path).joined(separator: ", ")
      throw AppsError(.executableUnknown, "\(path.map { "not \($0)" } ?? "none with the role app or tool"), but \(paths)")
    }
    try complete(manifest)
    let groups = try manifest.applicationGroups.map { try data.makeGroup(FileName($0.name)).path }
    guard let container = try containerPath(of: application) else { throw AppsError(.bundleDamaged, application) }
    return Sandbox(
      program: Path.join(bundle.directory.path, chosen.path), container: container, bundle: bundle.directory.path,
      groups: groups, store: bundle.store, hidden: Sandbox.hidden([data.root.path] + directories))
  }

  /// Finishes an interrupted operation on the container, before a program of the app takes the lock.
  /// - Throws: `running` if a program of the app runs already, and the operation is unfinished.
  package func finishContainer(of application: String) throws(FileError) { _ = try data.container(FileName(application)) }

  /// A lock to be held for the lifetime of a program of the app.
  package func runningLock(of application: String) throws(FileError) -> RunningLock {
    try RunningLock.running(FileName(application), in: data.containers())
  }

  /// The directories of installed apps with this full name, or with this identifier in any team.
  package func applications(named name: String) throws(FileError) -> [String] {
    try directory.names().map { "\($0)" }.filter { candidate in
      candidate.utf8.first != UInt8(ascii: ".") && RunningApp.isNamed(name, candidate)
    }
  }
}
