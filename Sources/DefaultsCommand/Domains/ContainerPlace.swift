import AppContainers
import CofferConsole
import CofferFiles
internal import CofferPreferences

/// Where the domains lie that are in no directory of the user's own: in the container of an app, or of an application group.
enum ContainerPlace {
  /// - Parameters:
  ///   - domain: One that has the name of an application group is the group's, for its members and for the owner. Nil for all
  ///     domains.
  ///   - container: The app or group that the caller has named.
  /// - Returns: nil if it is neither.
  /// - Throws: `Failure` if there is no such container.
  static func preferences(of domain: DomainName?, in container: String?, _ places: SearchPlaces) throws -> String? {
    if let container {
      if RunningApp.isGroupOfATeam(container), let group = try group(container) { return group }
      let found = try UserContainers.container(of: container)
      return try preferences(in: found.directory)
    }
    guard let domain, RunningApp.isGroupOfATeam(domain.name) else { return nil }
    // A program of an app sees those of its own groups, and a file of its own in the place of any other.
    if places.applicationIdentifier != nil { return places.directory(of: domain) }
    return try group(domain.name)
  }

  private static func group(_ name: String) throws -> String? {
    guard let data = try UserContainers.directory(), let directory = try data.group(FileName(name)) else { return nil }
    return try preferences(in: directory)
  }

  /// Programs of the app may have put a link in the place of a directory: what the owner writes would go where they want it.
  private static func preferences(in directory: OpenDirectory) throws -> String {
    let names = try DirectoryClass.preferences.names
    return try about(directory.path) {
      let preferences = try directory.directory(names)
      _ = try preferences?.directory(FileName("ByHost"))
      return names.reduce(directory.path) { Path.join($0, "\($1)") }
    }
  }
}
