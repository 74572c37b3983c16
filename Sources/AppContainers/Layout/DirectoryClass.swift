package import CofferFiles

/// The class of a directory of an app. It decides whether the directory is backed up, when it may be emptied, and whether it is
/// read-only. All rules are in one table.
package enum DirectoryClass: String, CaseIterable, Sendable {
  /// The app itself: its executables and its manifest.
  case bundle
  /// Documents of the user.
  case documents
  /// Files that other apps have delivered.
  case inbox
  /// Data of the app that the user does not see, also in directories of the app's own choice.
  case library
  /// Data that the app can make again.
  case caches
  /// The files of `UserDefaults`.
  case preferences
  case temporary
  /// Data that the apps of a group share.
  case group

  package enum Purge: Sendable {
    case never
    /// When no program of the app is running.
    case whenStopped
    /// Then, and only when the disk is low.
    case whenStoppedAndDiskLow
  }

  package struct Rules: Sendable {
    /// Below the container; nil for what lies outside of it.
    package let path: [String]?
    package let isBackedUp: Bool
    package let purge: Purge
    /// Whether the app may make and change files there. It may delete in its Inbox all the same.
    package let isReadOnly: Bool
  }

  package var rules: Rules {
    switch self {
    case .bundle: Rules(path: nil, isBackedUp: false, purge: .never, isReadOnly: true)
    case .documents: Rules(path: ["Documents"], isBackedUp: true, purge: .never, isReadOnly: false)
    case .inbox: Rules(path: ["Documents", "Inbox"], isBackedUp: false, purge: .never, isReadOnly: true)
    case .library: Rules(path: ["Library"], isBackedUp: true, purge: .never, isReadOnly: false)
    case .caches: Rules(path: ["Library", "Caches"], isBackedUp: false, purge: .whenStoppedAndDiskLow, isReadOnly: false)
    case .preferences: Rules(path: ["Library", "Preferences"], isBackedUp: true, purge: .never, isReadOnly: false)
    case .temporary: Rules(path: ["tmp"], isBackedUp: false, purge: .whenStopped, isReadOnly: false)
    case .group: Rules(path: nil, isBackedUp: true, purge: .never, isReadOnly: false)
    }
  }

  /// Those of a container, directories before what is in them.
  package static var inContainer: [DirectoryClass] { allCases.filter { $0.rules.path != nil } }

  package var names: [FileName] {
    get throws(FileError) {
      var names: [FileName] = []
      for name in rules.path ?? [] { names.append(try FileName(name)) }
      return names
    }
  }

  /// The class of a path in a container: that of the nearest directory at or above it. nil at the top of the
  /// container, where apps may not create files.
  package static func of(_ path: [FileName]) -> DirectoryClass? {
    var best: (count: Int, found: DirectoryClass)?
    for candidate in inContainer {
      guard let names = candidate.rules.path, path.starts(with: names, by: { $0.bytes.elementsEqual($1.utf8) }) else { continue }
      if names.count > best?.count ?? 0 { best = (names.count, candidate) }
    }
    return best?.found
  }
}
