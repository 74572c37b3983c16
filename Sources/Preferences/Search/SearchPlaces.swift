internal import AppContainers
internal import Glibc

/// Where the domains of a search list lie, and the machine they are read on. Nothing is made by asking. Immutable.
public struct SearchPlaces: Sendable, Equatable {
  /// Of an app that `coffer app run` has started; its `user` is in its container.
  let app: RunningApp?
  /// The user's preferences. Domains for this machine alone are in its directory `ByHost`.
  public let user: String
  /// What the administrator forces on users: files here, and above them those in `users/UID`.
  public let managed: String
  /// Who must own them.
  let administrator: UInt32
  /// Settings for all users, below everybody's own.
  public let anyUser: String
  /// Directories with `LANGUAGE.plist`; the first that has the file counts.
  public let languages: [String]
  /// Part of the names of the files for this machine: hexadecimal digits.
  public let host: String
  /// Whose managed settings count.
  public let userIdentifier: UInt32
  /// Where Foundation keeps the user's preferences; nil where they do not count.
  let foundation: String?

  public init(
    user: String, managed: String = "/etc/coffer/managed", anyUser: String = "/etc/coffer/preferences",
    languages: [String]? = nil,
    host: String = HostIdentifier.current, userIdentifier: UInt32? = nil, administrator: UInt32 = 0
  ) {
    self.init(
      user: user, managed: managed, anyUser: anyUser, languages: languages, host: host, userIdentifier: userIdentifier,
      administrator: administrator, app: nil, foundation: nil)
  }

  private init(
    user: String, managed: String = "/etc/coffer/managed", anyUser: String = "/etc/coffer/preferences",
    languages: [String]? = nil,
    host: String = HostIdentifier.current, userIdentifier: UInt32? = nil, administrator: UInt32 = 0, app: RunningApp?,
    foundation: String?
  ) {
    self.foundation = foundation
    self.administrator = administrator
    self.app = app
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
  /// A program of an app that `coffer app run` has started has them in its container, and those of an application group of the app in
  /// the group's. Every other suite is a file in its own container: what belongs to somebody else is neither read nor written.
  ///
  /// - Parameter environment: The value of a variable. An empty one counts as not set, and none counts in a program with more rights than
  ///   whoever started it.
  /// - Throws: `noPlace` where `COFFER_HOME` is not absolute, and where no home directory is known.
  public init(environment: (String) -> String?) throws(PreferenceError) {
    // With `COFFER_HOME` the settings are to be apart from all others, in tests for example.
    let foundation = try? UserDirectories(environment: environment).configurationDirectory()
    guard let app = RunningApp(environment: environment) else {
      self.init(user: try Self.userDirectory(environment), app: nil, foundation: foundation)
      return
    }
    self.init(user: app.preferences, app: app, foundation: foundation)
  }

  /// In which the user's values of a domain lie.
  public func directory(of name: DomainName) -> String { app?.preferences(ofGroup: name.name) ?? user }

  /// How a domain of the user is opened. What Foundation has stored is its first base, but for the global domain, those of application
  /// groups, and where `COFFER_HOME` is set. Links are followed outside of containers.
  public func options(of name: DomainName) -> FileDomain.Options {
    var options = FileDomain.Options()
    guard directory(of: name) == user else { return options }
    options.isFollowingLinks = app == nil
    if let foundation, name != .global { options.firstBase = Self.join(foundation, "\(name.fileName).plist") }
    return options
  }

  /// What the app is called without its team; nil where the program is none.
  public var applicationIdentifier: String? { app?.identifier }

  /// The container of the app; nil where the program is none.
  public var container: String? { app?.container }

  /// The directory of an application group of the app.
  public func groupContainer(_ name: String) -> String? { app?.group(name) }

  /// The name of a suite with that of the team, for `group.com.example.x` of an app with one group that ends in it.
  public func fullName(of name: DomainName) -> DomainName {
    guard let found = app?.groups(named: name.name), found.count == 1 else { return name }
    return (try? DomainName(found[0])) ?? name
  }

  /// Whether a name is that of several application groups of the app.
  public func isAmbiguousGroup(_ name: String) -> Bool { (app?.groups(named: name).count ?? 0) > 1 }

  /// Whether a suite has the name of an application group that the app does not have: it gets a file of its own in its place.
  public func lacksGroup(_ name: DomainName) -> Bool {
    guard let app, RunningApp.isGroupOfATeam(name.name) || RunningApp.isGroupWithoutTeam(name.name) else { return false }
    return app.preferences(ofGroup: name.name) == nil
  }

  /// The files for this machine alone.
  public var byHost: String { Self.join(user, "ByHost") }
  func byHost(of name: DomainName) -> String { Self.join(directory(of: name), "ByHost") }
  /// The managed files of this user.
  public var managedUser: String { Self.join(managed, "users/\(userIdentifier)") }

  static func join(_ directory: String, _ name: String) -> String { UserDirectories.join(directory, name) }

  private static func userDirectory(_ environment: (String) -> String?) throws(PreferenceError) -> String {
    do throws(UserDirectories.Failure) {
      return join(try UserDirectories(environment: environment).dataDirectory(), "Preferences")
    } catch {
      switch error {
      case .relativePath(let path): throw PreferenceError(.noPlace, "COFFER_HOME=\(path) is not absolute")
      case .noHome(nil): throw PreferenceError(.noPlace, "no home directory is known")
      case .noHome(let home?): throw PreferenceError(.noPlace, "the home directory \(home) is not absolute")
      }
    }
  }
}
