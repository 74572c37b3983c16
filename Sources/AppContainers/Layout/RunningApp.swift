internal import CofferFiles

/// Which app the process is a program of, as `coffer app run` says in the environment. It says where to look, and gives no
/// rights: those come from what the sandbox shows.
package struct RunningApp: Sendable, Equatable {
  package static let applicationVariable = "COFFER_APP"
  package static let containerVariable = "COFFER_CONTAINER"
  package static let groupsVariable = "COFFER_APP_GROUPS"
  /// The name of the app's store of synchronised settings.
  package static let storeVariable = "COFFER_APP_STORE"
  /// The signed manifest of an app that is being developed, which is installed nowhere.
  package static let manifestVariable = "COFFER_APP_MANIFEST"
  /// `TEAM.` in front of an identifier.
  private static let teamByteCount = 32

  /// `TEAM.identifier`.
  package let application: String
  package let container: String
  /// The directories of its application groups, by the names of the groups.
  package let groups: [String: String]
  /// The name of its store of synchronised settings: its own, or one of its groups. nil if the manifest names none.
  package let store: String?

  /// Returns nil if the process was not started so, or has more rights than its parent.
  package init?(isElevated: Bool = Environment.isElevated, environment: (String) -> String?) {
    guard !isElevated, let application = environment(Self.applicationVariable), !application.isEmpty,
      let container = environment(Self.containerVariable), container.utf8.first == UInt8(ascii: "/")
    else { return nil }
    self.application = application
    self.container = container
    store = environment(Self.storeVariable).flatMap { $0.isEmpty ? nil : $0 }
    // Paths of directories, each the name of its group: a zero and a line end can be in none of them.
    let paths = (environment(Self.groupsVariable) ?? "").split(separator: "\n").map(String.init)
    groups = paths.reduce(into: [:]) { groups, path in
      guard path.utf8.first == UInt8(ascii: "/"), let name = path.split(separator: "/").last else { return }
      groups[String(name)] = path
    }
  }

  /// Without the team.
  package var identifier: String {
    Self.isGroupOfATeam(application) ? String(application.dropFirst(Self.teamByteCount + 1)) : application
  }

  package var preferences: String { Path.join(container, "Library/Preferences") }

  /// The preferences directory of an application group of the app; nil for every other name.
  package func preferences(ofGroup name: String) -> String? {
    group(name).map { Path.join($0, "Library/Preferences") }
  }

  package func group(_ name: String) -> String? {
    let found = groups(named: name)
    return found.count == 1 ? groups[found[0]] : nil
  }

  /// The names of the app's groups that a program means by a name: that one, or for `group.com.example.x`, as programs for
  /// Apple's systems have it, each that ends in it.
  package func groups(named name: String) -> [String] {
    if let own = groups.keys.first(where: { $0.utf8.elementsEqual(name.utf8) }) { return [own] }
    guard Self.isGroupWithoutTeam(name) else { return [] }
    let ending = Array(".\(name)".utf8)
    return groups.keys.filter { $0.utf8.suffix(ending.count).elementsEqual(ending) }.sorted()
  }

  /// Whether a name is one of an application group on Apple's systems.
  package static func isGroupWithoutTeam(_ name: String) -> Bool { name.utf8.starts(with: "group.".utf8) && name.utf8.count > 6 }

  /// Whether `name` is the name of `application`, in full or without the team.
  package static func isNamed(_ name: String, _ application: String) -> Bool {
    application.utf8.elementsEqual(name.utf8) || application.utf8.dropFirst(teamByteCount).elementsEqual(".\(name)".utf8)
  }

  /// Whether a name begins with that of a team, as those of all application groups do.
  package static func isGroupOfATeam(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard bytes.count > teamByteCount + 1, bytes[teamByteCount] == UInt8(ascii: ".") else { return false }
    return bytes[..<teamByteCount].allSatisfy {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (0x32...0x37).contains($0)
    }
  }
}
