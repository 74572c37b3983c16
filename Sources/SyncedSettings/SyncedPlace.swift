package import AppContainers
package import CofferFiles
package import CofferPreferences

/// Where the files of a store lie on this machine.
///
/// An app has one store of its own, in its container, and may share others with apps of its team, each in the container of an
/// application group of the same name. All other programs of the user have theirs in one directory.
package struct SyncedPlace: Hashable, Sendable {
  /// The owner of the directory in which a store lies.
  package enum Owner: Sendable {
    /// The app of the same name.
    case app
    /// The application group of the same name.
    case group
    /// A program that is not installed as an app.
    case program
  }

  /// The directory in the library of a container, and in the user's data directory.
  package static let directoryName = "SyncedPreferences"
  /// `ID.sync` is the domain beside the one of the store `ID`, so no store has such a name.
  private static let reservedSuffix = ".sync"

  /// The owner of the directory.
  package let owner: Owner
  /// The domain of the values.
  package let name: DomainName
  /// `TEAM.identifier`, or the name of the program's settings.
  package var identifier: String { name.name }

  /// - Parameters:
  ///   - identifier: The name of the store: that of the app, of the group, or of the program's settings.
  ///   - owner: The owner of the directory.
  /// - Throws: `unsafeName`; also if the name ends in `.sync`, or is that of a team's app and the owner is a program.
  package init(_ identifier: String, of owner: Owner) throws(PreferenceError) {
    name = try DomainName(identifier)
    guard name != .global, !identifier.utf8.suffix(Self.reservedSuffix.utf8.count).elementsEqual(Self.reservedSuffix.utf8) else {
      throw PreferenceError(.unsafeName, "\(identifier): no synchronised store can have this name")
    }
    guard owner != .program || !RunningApp.isGroupOfATeam(identifier) else {
      throw PreferenceError(.unsafeName, "\(identifier): the store of a team's app is in a container")
    }
    self.owner = owner
  }

  package static func == (left: SyncedPlace, right: SyncedPlace) -> Bool {
    left.owner == right.owner && left.name == right.name
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(name) }

  // MARK: The store of a program

  /// The store of a process.
  package struct OfProcess: Sendable {
    /// Its name.
    package let name: DomainName
    /// The directory of its files.
    package let directory: PreferenceDirectory
    /// Whether the app may have its settings on other devices. A program that is not an app is asked for by its user instead.
    package let isEntitled: Bool
  }

  /// The store of a process: in an app the one that its manifest names, else the one of the app's own name.
  /// - Parameters:
  ///   - places: The directories of the process.
  ///   - program: The name of the settings of a program that is not an app.
  /// - Throws: As `init`; `noPlace` if the app has not the group of the store, or if there is no home directory.
  package static func ofProcess(in places: SearchPlaces, program: DomainName) throws(PreferenceError) -> OfProcess {
    guard let app = places.app else {
      guard !places.user.isEmpty else { throw PreferenceError(.noPlace, "no home directory is known") }
      let name = try SyncedPlace(program.name, of: .program).name
      let directory = PreferenceDirectory(Path.join(Path.parent(of: places.user), directoryName))
      return OfProcess(name: name, directory: directory, isEntitled: true)
    }
    let identifier = app.store ?? app.application
    let isOwn = identifier.utf8.elementsEqual(app.application.utf8)
    guard let container = isOwn ? app.container : app.group(identifier) else {
      throw PreferenceError(.noPlace, "\(identifier): the store of a group that the app does not have")
    }
    let name = try SyncedPlace(identifier, of: isOwn ? .app : .group).name
    let directory = PreferenceDirectory(Path.join(Path.join(container, "Library"), directoryName))
    return OfProcess(name: name, directory: directory, isEntitled: app.store != nil)
  }

  // MARK: The user's stores

  /// The way down from the user's data directory.
  private var path: [String] {
    switch owner {
    case .app: ["Containers", identifier, "Library", Self.directoryName]
    case .group: ["Groups", identifier, "Library", Self.directoryName]
    case .program: [Self.directoryName]
    }
  }

  /// The directory of the store, reached without symbolic links: a program of an app may put one anywhere in its container.
  /// - Parameters:
  ///   - data: The user's data directory.
  ///   - isMade: Whether the last directory is made if it is missing.
  /// - Returns: nil if there is no such directory.
  /// - Throws: `symbolicLink`, `notADirectory`; errors of the system.
  package func directory(in data: DataDirectory, isMade: Bool) throws(FileError) -> OpenDirectory? {
    var here = data.root
    for name in path.dropLast() {
      guard let next = try here.directory(FileName(name)) else { return nil }
      here = next
    }
    let last = FileName(constant: "SyncedPreferences")
    return isMade ? try here.makeDirectory(last) : try here.directory(last)
  }

  /// Tells two directories apart of which one has taken the place of the other.
  package struct Identity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    fileprivate init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }
  }

  /// The directory of the store as it is now.
  /// - Parameter data: The user's data directory.
  /// - Returns: nil if it does not exist.
  /// - Throws: as `directory`.
  package func identity(in data: DataDirectory) throws(FileError) -> Identity? {
    guard let directory = try directory(in: data, isMade: false) else { return nil }
    return Identity(try directory.status())
  }

  /// All stores of a user, in the order of their names. A directory that cannot be read has none.
  /// - Parameter data: The user's data directory.
  package static func all(in data: DataDirectory) -> [SyncedPlace] {
    var places: [SyncedPlace] = []
    for (owner, name) in [(Owner.app, "Containers"), (.group, "Groups")] {
      for identifier in names(in: try? data.root.directory(FileName(name))) {
        // An app chooses the names of the files in its container, and has one store all the same.
        guard RunningApp.isGroupOfATeam(identifier), let place = try? SyncedPlace(identifier, of: owner), place.exists(in: data)
        else { continue }
        places.append(place)
      }
    }
    let files = names(in: try? data.root.directory(FileName(constant: "SyncedPreferences")))
    let stores = Set(files.filter { $0.hasSuffix(".lock") }.map { String($0.dropLast(".lock".count)) })
    places += stores.compactMap { try? SyncedPlace($0, of: .program) }
    return places.sorted { $0.identifier.utf8.lexicographicallyPrecedes($1.identifier.utf8) }
  }

  private func exists(in data: DataDirectory) -> Bool {
    Self.names(in: try? directory(in: data, isMade: false)).contains { $0.utf8.elementsEqual("\(identifier).lock".utf8) }
  }

  private static func names(in directory: OpenDirectory?) -> [String] {
    (try? directory?.names())?.map(\.description).filter { $0.utf8.first != UInt8(ascii: ".") } ?? []
  }
}
