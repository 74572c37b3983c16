import CofferConsole
import CofferFiles

/// A file in which secrets may lie.
struct SweepPlace: Hashable {
  enum Kind {
    case gitCredentials, netrc, npmrc, pypirc, aws, docker, kube, cargo
    /// `.env` and the like.
    case variables
    case shell
    /// A private key of OpenSSH.
    case privateKey
    /// Histories, and files whose programs have no other way to a secret.
    case lines
  }

  /// As it was found, for people.
  let path: String
  let kind: Kind
}

/// The files in which programs keep tokens.
struct SweepPlaces {
  private static let known: [(name: String, kind: SweepPlace.Kind)] = [
    (".git-credentials", .gitCredentials), (".config/git/credentials", .gitCredentials), (".netrc", .netrc), (".npmrc", .npmrc),
    (".pypirc", .pypirc), (".aws/credentials", .aws), (".docker/config.json", .docker), (".kube/config", .kube),
    (".cargo/credentials.toml", .cargo), (".cargo/credentials", .cargo), (".config/gh/hosts.yml", .lines), (".pgpass", .lines),
    (".my.cnf", .lines), (".bashrc", .shell), (".bash_profile", .shell), (".bash_login", .shell), (".bash_aliases", .shell),
    (".profile", .shell), (".zshrc", .shell), (".zshenv", .shell), (".zprofile", .shell), (".zlogin", .shell),
    (".bash_history", .lines), (".zsh_history", .lines), (".local/share/fish/fish_history", .lines), (".python_history", .lines),
    (".psql_history", .lines), (".mysql_history", .lines), (".node_repl_history", .lines), (".config/fish/config.fish", .lines),
  ]
  private let paths: [String]

  init(_ paths: [String]) { self.paths = paths }

  /// - Throws: not found, for a path that was named; usage; I/O.
  func files() throws -> [SweepPlace] {
    guard !paths.isEmpty else {
      guard let home = Environment["HOME"], home.hasPrefix("/") else {
        throw Failure.usage("HOME: is not set", hint: "name the files or directories")
      }
      return try Self.files(below: home)
    }
    var found: [SweepPlace] = []
    for path in paths {
      guard let status = try Files<FileError>.status(at: path, followingLinks: true) else {
        throw Failure(.notFound, "\(path): does not exist")
      }
      let files = try status.kind == .directory ? Self.files(below: path) : [SweepPlace(path: path, kind: Self.kind(of: path))]
      found += files.filter { !found.contains($0) }
    }
    return found
  }

  /// The files that exist. A directory that refuses is an error.
  private static func files(below directory: String) throws -> [SweepPlace] {
    var found: [SweepPlace] = []
    func add(_ name: String, _ kind: SweepPlace.Kind) throws {
      let path = Path.join(directory, name)
      guard try Files<FileError>.status(at: path, followingLinks: true)?.kind == .file else { return }
      found.append(SweepPlace(path: path, kind: kind))
    }
    for (name, kind) in known { try add(name, kind) }
    for name in try names(in: directory) where isVariables(name) { try add(name, kind(of: name)) }
    for name in try names(in: Path.join(directory, ".ssh")) where name.hasPrefix("id_") && !name.hasSuffix(".pub") {
      try add(".ssh/\(name)", .privateKey)
    }
    return found
  }

  private static func names(in directory: String) throws -> [String] {
    guard try Files<FileError>.status(at: directory, followingLinks: true)?.kind == .directory else { return [] }
    return try OpenDirectory.foreign(directory).names().map(\.description).sorted()
  }

  private static func isVariables(_ name: String) -> Bool {
    name == ".env" || name.hasPrefix(".env.") && ![".example", ".sample", ".template", ".dist"].contains { name.hasSuffix($0) }
      || name == ".envrc"
  }

  /// A file that was named is what its name says, wherever it lies.
  private static func kind(of path: String) -> SweepPlace.Kind {
    let name = Path.name(of: path)
    if let known = known.first(where: { path == $0.name || path.hasSuffix("/\($0.name)") }) { return known.kind }
    if name.hasPrefix("id_"), !name.hasSuffix(".pub") { return .privateKey }
    if name == ".envrc" { return .shell }
    return isVariables(name) || name.hasSuffix(".env") ? .variables : .lines
  }
}
