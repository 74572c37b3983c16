internal import Glibc

/// Where the domains of a search list lie, and the machine they are read on. Nothing is made by asking. Immutable.
public struct SearchPlaces: Sendable, Equatable {
  /// The user's preferences. Domains for this machine alone are in its directory `ByHost`.
  public let user: String
  /// What the administrator forces on users: files here, and above them those in `users/UID`.
  public let managed: String
  /// Settings for all users, below everybody's own.
  public let anyUser: String
  /// Directories with `LANGUAGE.plist`; the first that has the file counts.
  public let languages: [String]
  /// Part of the names of the files for this machine: hexadecimal digits.
  public let host: String
  /// Whose managed settings count.
  public let userIdentifier: UInt32

  public init(
    user: String, managed: String = "/etc/coffer/managed", anyUser: String = "/etc/coffer/preferences",
    languages: [String]? = nil,
    host: String = HostIdentifier.current, userIdentifier: UInt32? = nil
  ) {
    self.user = user
    self.managed = managed
    self.anyUser = anyUser
    self.languages = languages ?? [Self.join(user, "Languages"), "/etc/coffer/languages"]
    self.host = host
    self.userIdentifier = userIdentifier ?? getuid()
  }

  /// The user's preferences lie in `Preferences` under `COFFER_HOME` if that is set, else under `coffer` in the data directory of the
  /// XDG base directory specification. The places of the administrator are fixed: who could move them could lift what is forced.
  ///
  /// - Parameter environment: The value of a variable. An empty one counts as not set.
  /// - Throws: `noPlace` where `COFFER_HOME` is not absolute, and where no home directory is known.
  public init(environment: (String) -> String?) throws(PreferenceError) {
    self.init(user: try Self.userDirectory(environment))
  }

  /// The files for this machine alone.
  public var byHost: String { Self.join(user, "ByHost") }
  /// The managed files of this user.
  public var managedUser: String { Self.join(managed, "users/\(userIdentifier)") }

  static func join(_ directory: String, _ name: String) -> String {
    directory.utf8.last == UInt8(ascii: "/") ? directory + name : "\(directory)/\(name)"
  }

  private static func userDirectory(_ environment: (String) -> String?) throws(PreferenceError) -> String {
    func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    func absolute(_ name: String) -> String? { value(name).flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil } }
    if let home = value("COFFER_HOME") {
      // To fall back would be to read and change other settings than those that were meant.
      guard home.utf8.first == UInt8(ascii: "/") else { throw PreferenceError(.noPlace, "COFFER_HOME=\(home) is not absolute") }
      return join(home, "Preferences")
    }
    if let data = absolute("XDG_DATA_HOME") { return join(data, "coffer/Preferences") }
    if let home = absolute("HOME") { return join(home, ".local/share/coffer/Preferences") }
    return join(try homeOfUser(), ".local/share/coffer/Preferences")
  }

  private static func homeOfUser() throws(PreferenceError) -> String {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let result = unsafe getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found)
    guard result == 0, unsafe found != nil, let directory = unsafe entry.pw_dir else {
      throw PreferenceError(.noPlace, "no home directory is known")
    }
    let home = unsafe String(cString: directory)
    guard home.utf8.first == UInt8(ascii: "/") else {
      throw PreferenceError(.noPlace, "the home directory \(home) is not absolute")
    }
    return home
  }
}
