import AppContainers
import CofferApps
import CofferFiles
import VaultCore

/// Where a user's apps lie, for a command.
enum AppPlace {
  private static func path() throws -> String { try about { try UserDirectories { Environment[$0] }.dataDirectory() } }

  /// Data and state, where they lie for this process.
  static func user() throws -> (data: String, state: String) {
    try about {
      let user = try UserDirectories { Environment[$0] }
      return (try user.dataDirectory(), try user.stateDirectory())
    }
  }

  private static func about<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let UserDirectories.Failure.relativePath(path) {
      throw Failure(FailureTable.storage["relativePath"], "relativePath", "COFFER_HOME=\(path)", nil)
    } catch let UserDirectories.Failure.noHome(home) {
      throw Failure(FailureTable.storage["noHome"], "noHome", home ?? "", nil)
    }
  }

  /// Those of the user in which secrets may lie.
  static func directories() throws -> [String] {
    let user = try UserDirectories { Environment[$0] }
    return try [user.stateDirectory(), user.knownHome].compactMap(\.self)
  }

  /// Who asks a person something asks for it anew afterwards: nobody else can start an app while its lock is held.
  static func apps() throws -> InstalledApps { try InstalledApps(in: DataDirectory(at: path())) }

  /// The container of an app that is named in full, or by its identifier where only one team's has a container.
  static func container(of name: String) throws -> AppContainer {
    guard let data = try DataDirectory(existingAt: path()) else { throw none(name) }
    let candidates = try containerNames(in: data).filter { candidate in
      candidate.utf8.elementsEqual(name.utf8)
        || candidate.utf8.dropFirst(TeamIdentifier.characterCount).elementsEqual(".\(name)".utf8)
    }
    guard let first = candidates.first, let container = try data.container(FileName(first)) else { throw none(name) }
    guard candidates.count == 1 else {
      throw Failure(.severalMatch, "\(name): several teams have it", hint: "name one: TEAM.\(name)", details: candidates)
    }
    return container
  }

  /// Nil where nothing was ever installed.
  static func existingData() throws -> DataDirectory? { try DataDirectory(existingAt: path()) }

  /// Of all containers.
  static func containerNames() throws -> [String] {
    try DataDirectory(existingAt: path()).map { try containerNames(in: $0) } ?? []
  }

  /// Exactly this one. Nil where it has gone.
  static func container(named name: String) throws -> AppContainer? {
    try DataDirectory(existingAt: path())?.container(FileName(name))
  }

  private static func containerNames(in data: DataDirectory) throws -> [String] {
    try data.containers().names().map { "\($0)" }.filter { $0.utf8.first != UInt8(ascii: ".") }
  }

  private static func none(_ name: String) -> Failure {
    Failure(.notFound, "\(name): there is no container", hint: "coffer app list shows the apps there are")
  }
}

/// A manifest that a command names, and the directory in which its executables lie.
struct ManifestPlace {
  let path: String
  let bytes: [UInt8]
  let directory: OpenDirectory

  /// - Parameter directory: Where none is named, that of the manifest.
  init(_ path: String, executablesIn directory: String?) throws {
    self.path = path
    let file = try Descriptor.open(path)
    defer { file.close() }
    bytes = try file.contents(limit: ManifestFile.maximumByteCount)
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let beside = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    self.directory = try about(path) { try OpenDirectory.foreign(directory ?? beside) }
  }
}

extension Descriptor {
  /// Everything up to the end of what is no secret.
  /// - Throws: usage, where there is more than `limit` bytes.
  func contents(limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe try room.withUnsafeMutableBytes { unsafe try read(into: $0) }
      if count == 0 { return bytes }
      bytes += room[..<count]
      guard bytes.count <= limit else { throw Failure.usage("\(name): more than \(limit) bytes") }
    }
  }
}
