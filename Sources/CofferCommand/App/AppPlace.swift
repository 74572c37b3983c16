import AppContainers
import CofferApps
import CofferConsole
import CofferFiles
import VaultCore

/// The directories in which a user's apps lie, for a command.
enum AppPlace {
  /// Data and state, where they lie for this process.
  static func user() throws -> (data: String, state: String) {
    let user = try UserDirectories { Environment[$0] }
    return (try user.dataDirectory(), try user.stateDirectory())
  }

  /// Those of the user in which secrets may lie.
  static func directories() throws -> [String] {
    let user = try UserDirectories { Environment[$0] }
    return try [user.stateDirectory(), user.knownHome].compactMap(\.self)
  }

  /// A caller that asks a person something opens it again afterwards, because no app can start while its lock is held.
  static func apps() throws -> InstalledApps {
    try InstalledApps(in: DataDirectory(at: UserDirectories { Environment[$0] }.dataDirectory()))
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
