import AppContainers
import ArgumentParser
import CofferApps
import CofferConsole
import Glibc

struct AppRun: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Start a program of an app, with its own container and those of its groups alone in sight.",
    discussion: """
      Needs bubblewrap; without it nothing is started, unless --no-sandbox is given. Ends with the program's exit status, with 125 \
      if it was not started, with 126 or 127 if it could not be.
      """)

  @Argument(help: "TEAM.identifier, or the identifier alone.", completion: OfferedNames.apps)
  var app: String

  @Option(help: ArgumentHelp("One of its executables; the first with the role app otherwise.", valueName: "path"))
  var executable: String?

  @Flag(help: "Start it with everything of yours in sight.")
  var noSandbox = false

  @Argument(parsing: .postTerminator, help: "The arguments of the program, after --.")
  var arguments: [String] = []

  func run() throws {
    do {
      try start()
    } catch {
      Descriptor.error.note(Failure(error, about: app).text)
      Glibc.exit(Launch.notStarted)
    }
  }

  private func start() throws {
    // In the directory of the user, before the environment is that of the app.
    var audit = try AppAudit(.run)
    let (name, sandbox, lock) = try prepared(&audit)
    let user = try AppPlace.user()
    for (variable, value) in sandbox.variables(of: name) { unsafe setenv(variable, value, 1) }
    for variable in [UserDirectories.dataVariable, UserDirectories.stateVariable] { unsafe unsetenv(variable) }
    guard !noSandbox else {
      Descriptor.error.note("coffer: warning: \(name) runs without a sandbox: it can read and change all that you can\n")
      // The vault is the user's, and so are the anchor, without which an older copy is not noticed, and the key of the device.
      unsafe setenv(UserDirectories.dataVariable, user.data, 1)
      unsafe setenv(UserDirectories.stateVariable, user.state, 1)
      guard unsafe chdir(sandbox.container) == 0 else { throw SystemError.last.failure(sandbox.container) }
      try audit.doing(because: "no-sandbox") { try Launch.become(sandbox.program, arguments, keeping: lock.number, alone: false) }
    }
    // It names what the app does not see.
    unsafe unsetenv("COFFER_HOME")
    let words = try sandbox.arguments(lock: lock.number)
    guard let program = Sandbox.programs.first(where: { unsafe access($0, X_OK) == 0 }) else {
      throw Failure(
        .other, "bubblewrap is missing, without which an app sees everything of yours",
        hint: "apt-get install bubblewrap, or --no-sandbox if that is meant")
    }
    guard try Launch.succeeds(program, sandbox.arguments(lock: nil) + ["/usr/bin/true"]) else {
      throw Failure(
        .other, "bubblewrap does not work here, and without it an app sees everything of yours",
        hint: "the system must allow user namespaces; --no-sandbox if an open start is meant")
    }
    try audit.doing(because: "sandbox") {
      try Launch.become(program, words + [sandbox.program] + arguments, keeping: lock.number, alone: true)
    }
  }

  /// The lock on all apps is given back before the program starts.
  private func prepared(_ audit: inout AppAudit) throws -> (name: String, Sandbox, RunningLock) {
    let apps = try AppPlace.apps()
    let name = try audit.deciding { try installed(apps) }
    audit.application = name
    return try audit.deciding {
      // Finishing an interrupted restoration needs the lock exclusively.
      try apps.finishContainer(of: name)
      let lock = try apps.runningLock(of: name)
      return (name, try apps.sandbox(of: name, executable: executable, hiding: AppPlace.directories()), lock)
    }
  }

  private func installed(_ apps: InstalledApps) throws -> String {
    let names = try apps.applications(named: app)
    guard let name = names.first else {
      throw Failure(.notFound, "\(app): no such app is installed", hint: "coffer app list shows the apps there are")
    }
    guard names.count == 1 else {
      throw Failure(.severalMatch, "\(app): several teams have it", hint: "name one: TEAM.\(app)", details: names)
    }
    return name
  }
}
