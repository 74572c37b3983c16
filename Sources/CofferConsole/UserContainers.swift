package import AppContainers
internal import CofferFiles

/// The containers of the user's apps, for a command that names one.
package enum UserContainers {
  /// Returns nil if no app was ever installed.
  package static func directory() throws -> DataDirectory? {
    try DataDirectory(existingAt: UserDirectories { Environment[$0] }.dataDirectory())
  }

  /// The container of an app that is named in full, or by its identifier if only one team's app of that identifier has a container.
  /// - Throws: not found; several match.
  package static func container(of name: String) throws -> AppContainer {
    guard let data = try directory() else { throw none(name) }
    let candidates = try names(in: data).filter { RunningApp.isNamed(name, $0) }
    guard let first = candidates.first, let container = try data.container(FileName(first)) else { throw none(name) }
    guard candidates.count == 1 else {
      throw Failure(.severalMatch, "\(name): several teams have it", hint: "name one: TEAM.\(name)", details: candidates)
    }
    return container
  }

  package static func names() throws -> [String] { try directory().map { try names(in: $0) } ?? [] }

  /// The container of exactly this name. Returns nil if it has gone.
  package static func container(named name: String) throws -> AppContainer? { try directory()?.container(FileName(name)) }

  private static func names(in data: DataDirectory) throws -> [String] {
    try data.containers().names().map { "\($0)" }.filter { $0.utf8.first != UInt8(ascii: ".") }
  }

  private static func none(_ name: String) -> Failure {
    Failure(.notFound, "\(name): has no container", hint: "coffer app list shows the apps there are")
  }
}
