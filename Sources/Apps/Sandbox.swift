package import AppContainers
import VaultCore

/// What a program of an app sees: the system to read, its own files, its container and those of its groups, and nothing else of the
/// user's. The arguments for bubblewrap, which makes it so.
package struct Sandbox {
  /// Where bubblewrap is, on systems that have it.
  package static let programs = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"]

  /// The absolute path of the program that is started.
  package let program: String
  package let container: String
  let bundle: String
  let groups: [String]
  /// Directories of the user's that lie in what every app sees of the system, such as a home in `/opt`.
  let hidden: [String]

  private static let visible = ["/usr/", "/etc/", "/opt/"]

  /// Those of the directories that would be seen, by their real paths, without what lies in another one.
  ///
  /// Only the user's own: that of an account of the system may be `/usr/sbin`.
  static func hidden(_ directories: [String]) -> [String] {
    let real = Set(directories.compactMap { UserDirectories.realPathOfOwn($0) })
    let seen = real.filter { path in visible.contains { path.hasPrefix($0) } }
    return seen.filter { path in !seen.contains { path.hasPrefix($0 + "/") } }.sorted()
  }

  /// Up to the program and its arguments.
  /// - Parameter lock: A descriptor that stays open for as long as the sandbox lives.
  package func arguments(lock: Int32?) throws(ContainerError) -> [String] {
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

  /// What the environment says of the app: its directories in the place of the user's.
  package func variables(of application: String) -> [(name: String, value: String)] {
    let support = container + "/Library/Application Support"
    return [
      (RunningApp.applicationVariable, application), (RunningApp.containerVariable, container),
      (RunningApp.groupsVariable, groups.joined(separator: "\n")), ("HOME", container), ("TMPDIR", container + "/tmp"),
      // Foundation asks the user database for the home directory, unless this says another one.
      ("CFFIXED_USER_HOME", container),
      ("XDG_DATA_HOME", support), ("XDG_CONFIG_HOME", support), ("XDG_STATE_HOME", support),
      ("XDG_CACHE_HOME", container + "/Library/Caches"),
    ]
  }
}

extension InstalledApps {
  /// What is needed to start a program of an app: it is proven, all its executables are the signed ones.
  /// - Parameters:
  ///   - path: Of one of its executables. Nil stands for the first one that a person can start.
  ///   - directories: Of the user's, which it is not to see, wherever they are.
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
      program: UserDirectories.join(bundle.directory.path, chosen.path), container: container, bundle: bundle.directory.path,
      groups: groups, hidden: Sandbox.hidden([data.root.path] + directories))
  }

  /// What was interrupted in its container, before a program of it has the lock.
  /// - Throws: `running` where a program of it runs already, and something is left to do.
  package func finishContainer(of application: String) throws(ContainerError) { _ = try data.container(FileName(application)) }

  /// For a program of the app, as long as it lives.
  package func runningLock(of application: String) throws(ContainerError) -> RunningLock {
    try RunningLock.running(FileName(application), in: data.containers())
  }

  /// The directories of installed apps: named in full, or by the identifier where one team has it.
  package func applications(named name: String) throws(ContainerError) -> [String] {
    try directory.names().map { "\($0)" }.filter { candidate in
      guard candidate.utf8.first != UInt8(ascii: ".") else { return false }
      return candidate.utf8.elementsEqual(name.utf8)
        || candidate.utf8.dropFirst(TeamIdentifier.characterCount).elementsEqual(".\(name)".utf8)
    }
  }
}
