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
      return Self.distinct(Self.files(below: home))
    }
    var found: [SweepPlace] = []
    for path in paths {
      guard let status = try Files<FileError>.status(at: path, followingLinks: true) else {
        throw Failure(.notFound, "\(path): does not exist")
      }
      found += status.kind == .directory ? Self.files(below: path) : [Self.place(at: path)]
    }
    return Self.distinct(found)
  }

  /// The new files that killed sweeps have left beside the places, also of one that has no file, as what they are.
  func leftovers() -> [(place: SweepPlace, hasFile: Bool)] {
    let places = (paths.isEmpty ? [Environment["HOME"] ?? "/"] : paths).flatMap { path in
      Self.status(at: path)?.kind == .directory
        ? Self.candidates(below: path) : [Self.place(at: path)]
    }
    return Self.distinct(places).flatMap { place in
      let target = Path.target(of: place.path) ?? place.path
      return TemporaryName.deadLeftovers(for: target).map {
        (SweepPlace(path: $0, kind: place.kind), Self.status(at: target) != nil)
      }
    }
  }

  private static func status(at path: String) -> FileStatus? { try? Files<FileError>.status(at: path, followingLinks: true) }

  /// A file is looked at once, by the first of its names: a second look would find what is left of the first.
  private static func distinct(_ places: [SweepPlace]) -> [SweepPlace] {
    var seen: Set<String> = []
    return places.filter { seen.insert(Path.target(of: $0.path) ?? $0.path).inserted }
  }

  /// The files that exist, and those whose status the system refuses: the attempt to read one gives the reason.
  private static func files(below directory: String) -> [SweepPlace] {
    let refusing = [directory, Path.join(directory, ".ssh")].filter { (try? names(in: $0)) == nil }
    return refusing.map { SweepPlace(path: $0, kind: .lines) }
      + candidates(below: directory).filter { place in
        do {
          let kind = try Files<FileError>.status(at: place.path, followingLinks: true)?.kind
          return kind == .file && (place.kind != .privateKey || isPrivateKey(place.path))
        } catch {
          return true
        }
      }
  }

  /// The places that a sweep of a directory looks at, also those without a file, such as a link to one that has been moved, or one of
  /// which there is but a new file.
  static func candidates(below directory: String) -> [SweepPlace] {
    let own = known + finalNames(in: directory).filter(isVariables).map { ($0, kind(of: $0)) }
    let keys = finalNames(in: Path.join(directory, ".ssh")).map { (".ssh/\($0)", SweepPlace.Kind.privateKey) }
    return (own + keys).map { SweepPlace(path: Path.join(directory, $0.0), kind: $0.1) } + candidates(ofPart: directory)
  }

  /// For a directory that a program has in the home directory, such as `.ssh` itself.
  private static func candidates(ofPart directory: String) -> [SweepPlace] {
    guard let whole = Path.resolved(directory) else { return [] }
    let keys = Path.name(of: whole) == ".ssh" ? finalNames(in: directory).map { ($0, SweepPlace.Kind.privateKey) } : []
    let own = known.filter { $0.name.contains("/") && whole.hasSuffix("/\(Path.parent(of: $0.name))") }
    return (own.map { (Path.name(of: $0.name), $0.kind) } + keys).map {
      SweepPlace(path: Path.join(directory, $0.0), kind: $0.1)
    }
  }

  /// A key of any name. Where the name says that it is one, whatever is wrong with the file is told.
  private static func isPrivateKey(_ path: String) -> Bool {
    let name = Path.name(of: path)
    guard !name.hasSuffix(".pub") else { return false }
    return name.hasPrefix("id_") || SSHFindings.isPrivateKey(at: path)
  }

  private static func names(in directory: String) throws -> [String] {
    guard try Files<FileError>.status(at: directory, followingLinks: true)?.kind == .directory else { return [] }
    return try OpenDirectory.foreign(directory).names().map(\.description).sorted()
  }

  /// Those that new files are going to have come last.
  private static func finalNames(in directory: String) -> [String] {
    let all = (try? names(in: directory)) ?? []
    return all.filter { TemporaryName.name(of: $0) == nil } + all.compactMap(TemporaryName.name)
  }

  private static func isVariables(_ name: String) -> Bool {
    name == ".env" || name.hasPrefix(".env.") && ![".example", ".sample", ".template", ".dist"].contains { name.hasSuffix($0) }
      || name == ".envrc"
  }

  static func place(at path: String) -> SweepPlace { SweepPlace(path: path, kind: kind(of: path)) }

  /// A file that was named is what its name says, wherever it lies.
  private static func kind(of path: String) -> SweepPlace.Kind {
    let name = Path.name(of: path)
    if let known = known.first(where: { path == $0.name || path.hasSuffix("/\($0.name)") }) { return known.kind }
    if name.hasPrefix("id_"), !name.hasSuffix(".pub") { return .privateKey }
    if Path.target(of: path).map({ Path.name(of: Path.parent(of: $0)) }) == ".ssh", isPrivateKey(path) { return .privateKey }
    if name == ".envrc" { return .shell }
    return isVariables(name) || name.hasSuffix(".env") ? .variables : .lines
  }
}
