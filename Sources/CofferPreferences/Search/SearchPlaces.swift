package import AppContainers
internal import CofferFiles
internal import Glibc

/// The directories and the host of the domains of a search list. No directories are created. Immutable.
public struct SearchPlaces: Sendable, Equatable {
  /// Set in an app that `coffer app run` has started; `user` is in its container then.
  package let app: RunningApp?
  /// The user's preferences. Domains for this machine only are in its directory `ByHost`.
  public let user: String
  /// The administrator's forced settings: files in this directory for all users, and with precedence those in `users/UID`.
  public let managed: String
  /// The user ID that must own the managed files.
  let administrator: UInt32
  /// Settings for all users, below each user's own.
  public let anyUser: String
  /// Directories with `LANGUAGE.plist`; the first that has the file is used.
  public let languages: [String]
  /// The part of file names that identifies this machine: hexadecimal digits.
  public let host: String
  /// The user whose managed settings apply.
  public let userIdentifier: UInt32
  /// The directory of Foundation's preferences; nil if they are not used.
  let foundation: String?

  /// The directories and names of the domains.
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

  /// The user's preferences are in `Preferences` under `COFFER_HOME` if that is set, else under `coffer` in the data directory of
  /// the XDG Base Directory specification. The administrator's directories are fixed: a user who could move them could lift
  /// forced settings.
  ///
  /// In an app that `coffer app run` has started, preferences are in its container, and those of an application group of the app
  /// in the group's. Any other suite is a file in the app's own container, so that the app neither reads nor writes other
  /// programs' settings.
  ///
  /// - Parameter environment: The value of a variable. An empty variable counts as not set. In a program with more rights than
  ///   the process that started it, such as a set-user-ID program, no variable is used.
  /// - Throws: `noPlace` if `COFFER_HOME` is not absolute, or if there is no home directory.
  public init(environment: (String) -> String?) throws(PreferenceError) {
    // `COFFER_HOME` separates the settings from all others, for example in tests.
    let foundation = try? UserDirectories(environment: environment).configurationDirectory()
    guard let app = RunningApp(environment: environment) else {
      self.init(user: try Self.userDirectory(environment), app: nil, foundation: foundation)
      return
    }
    self.init(user: app.preferences, app: app, foundation: foundation)
  }

  /// The directory of the user's values of a domain.
  public func directory(of name: DomainName) -> String { app?.preferences(ofGroup: name.name) ?? user }

  /// The options for opening a domain of the user. Foundation's preferences are its first base, except for the global domain,
  /// application groups, and if `COFFER_HOME` is set. Symbolic links are followed outside of containers only.
  public func options(of name: DomainName) -> FileDomain.Options {
    var options = FileDomain.Options()
    guard directory(of: name) == user else { return options }
    options.isFollowingLinks = app == nil
    if let foundation, name != .global { options.firstBase = Self.join(foundation, "\(name.fileName).plist") }
    return options
  }

  /// The identifier of the app without its team; nil outside of an app.
  public var applicationIdentifier: String? { app?.identifier }

  /// The container of the app; nil outside of an app.
  public var container: String? { app?.container }

  /// The directory of an application group of the app; nil if the app does not have the group.
  public func groupContainer(_ name: String) -> String? { app?.group(name) }

  /// Adds the team to the name `group.com.example.x`, if exactly one group of the app ends in it.
  public func fullName(of name: DomainName) -> DomainName {
    guard let found = app?.groups(named: name.name), found.count == 1 else { return name }
    return (try? DomainName(found[0])) ?? name
  }

  /// Whether several application groups of the app end in this name.
  public func isAmbiguousGroup(_ name: String) -> Bool { (app?.groups(named: name).count ?? 0) > 1 }

  /// Whether a suite has the name of an application group that the app does not have. Its settings are in a file of the app's
  /// container then.
  public func lacksGroup(_ name: DomainName) -> Bool {
    guard let app, RunningApp.isGroupOfATeam(name.name) || RunningApp.isGroupWithoutTeam(name.name) else { return false }
    return app.preferences(ofGroup: name.name) == nil
  }

  /// The directory of the domains for this machine only.
  public var byHost: String { Self.join(user, "ByHost") }
  func byHost(of name: DomainName) -> String { Self.join(directory(of: name), "ByHost") }
  /// The directory of this user's managed files.
  public var managedUser: String { Self.join(managed, "users/\(userIdentifier)") }

  static func join(_ directory: String, _ name: String) -> String { Path.join(directory, name) }

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
