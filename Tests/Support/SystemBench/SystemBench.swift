import CLinux
public import Foundation
import Synchronization

/// `cofferd --system` as it is started by a service manager: under a user of its own, with the socket of another user, and with no more rights
/// than its unit gives it. Takes the superuser.
public final class SystemBench: Sendable {
  /// Without these there are no two users, or no look at what another user runs.
  public static let isPossible = geteuid() == 0 && isSet(capability: 19, in: "CapBnd")
  /// Whether the superuser may mount file systems here.
  public static let mayMount = isPossible && isSet(capability: 21, in: "CapEff")
  public static let reason = "takes the superuser with CAP_SYS_PTRACE: only then there are three users to act as"

  private static func isSet(capability: UInt64, in name: String) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let field = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }?.split(separator: "\t").last
    return UInt64(field ?? "", radix: 16).map { $0 & 1 << capability != 0 } ?? false
  }

  /// The user number of the vault's owner.
  public let user: UInt32
  /// The number of another user.
  public var stranger: UInt32 { user + 1000 }
  public var agent: UInt32 { user + 2000 }
  /// Root's, as are the programs in it.
  public let directory: URL
  private let listener: Int32
  private let running = Mutex<Child?>(nil)

  struct Failure: Error { let what: String }

  public var programs: URL { directory.appending(path: "bin") }
  public var home: URL { directory.appending(path: "home") }
  /// The agent's own.
  public var state: URL { directory.appending(path: "state") }
  public var socket: String { "/run/coffer/\(user)/agent.sock" }
  private var socketDirectory: String { "/run/coffer/\(user)" }

  public init() throws {
    unsafe mkdir("/run/coffer", 0o755)
    user = try Self.freeUser()
    directory = URL(filePath: "/opt/coffer-test-\(user)")
    try? FileManager.default.removeItem(at: directory)
    listener = try Self.listen(at: "/run/coffer/\(user)/agent.sock", for: user)
    try make(directory, 0o755, 0)
    try make(programs, 0o755, 0)
    try make(home, 0o700, user)
    try make(state, 0o700, agent)
    for name in ["cofferd", "coffer", "AgentProbe"] { try bring(name) }
    try start()
  }

  deinit {
    stop(SIGKILL)
    close(listener)
    unsafe unlink(socket)
    unsafe rmdir(socketDirectory)
    try? FileManager.default.removeItem(at: directory)
  }

  /// Whose directory nobody else has made, here or in another run of the tests.
  private static func freeUser() throws -> UInt32 {
    for _ in 0..<100 {
      let user = UInt32.random(in: 62_000..<63_000)
      if unsafe mkdir("/run/coffer/\(user)", 0o755) == 0 { return user }
    }
    throw Failure(what: "no free user")
  }

  /// As a service manager does, whose socket it is.
  private static func listen(at path: String, for user: UInt32) throws -> Int32 {
    let descriptor = coffer_local_socket()
    unsafe unlink(path)
    // As the unit has it: what is sent while the agent starts says who has sent it.
    guard descriptor >= 0, coffer_pass_credentials(descriptor) == 0, unsafe coffer_local_name(descriptor, path, 1) == 0,
      unsafe chmod(path, 0o600) == 0,
      unsafe chown(path, user, user) == 0, Glibc.listen(descriptor, 128) == 0
    else { throw Failure(what: "\(path): errno \(errno)") }
    return descriptor
  }

  private func make(_ directory: URL, _ mode: mode_t, _ owner: UInt32) throws {
    guard unsafe mkdir(directory.path, mode) == 0, unsafe chmod(directory.path, mode) == 0,
      unsafe chown(directory.path, owner, owner) == 0
    else { throw Failure(what: "\(directory.path): errno \(errno)") }
  }

  /// A program that was built beside the tests, where every user reaches it.
  private func bring(_ name: String) throws {
    let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: name)
    let target = programs.appending(path: name)
    if unsafe link(built.path, target.path) != 0 { try FileManager.default.copyItem(at: built, to: target) }
  }

  // MARK: The agent

  public var agentProcess: Int32 { running.withLock { $0?.process ?? 0 } }

  /// The command with the rights that its unit gives it, and no others.
  public func launch(in directory: URL) -> String {
    let rights = ["bounding-set", "inh-caps", "ambient-caps"].map { "--\($0)=-all,+sys_ptrace" }.joined(separator: " ")
    return "setpriv --reuid \(agent) --regid \(agent) --clear-groups --no-new-privs \(rights) "
      + "\(programs.path)/cofferd --system --user \(user) --directory \(directory.path)"
  }

  /// - Parameter tracer: A command in front of it, which does not change its number.
  public func start(under tracer: String = "") throws {
    let script = """
      exec 3<&0 </dev/null
      export LISTEN_FDS=1 LISTEN_PID=$$
      exec \(tracer) \(launch(in: state))
      """
    let child = try Child(
      ["/bin/sh", "-c", script], in: directory.path, environment: ["PATH=/usr/bin:/bin:/usr/sbin:/sbin"],
      descriptors: [listener, 2, 2])
    running.withLock { $0 = child }
  }

  /// The socket stays, as it does with a service manager: who connects meanwhile waits for the next agent.
  public func stop(_ signal: Int32 = 15) { running.withLock { $0.take() }?.end(by: signal) }

  // MARK: The user

  /// Runs a program to its end as a user; nil: the one whose vault it is.
  public func run(
    _ program: String, _ arguments: [String], as user: UInt32? = nil, input: String = "", environment: [String: String] = [:]
  ) throws -> Child.Outcome {
    try Child.run(
      words(program, arguments, as: user ?? self.user), in: directory.path, environment: variables(environment), input: input)
  }

  /// One that runs on, until it is told to end.
  public func command(
    _ program: String, _ arguments: [String], as user: UInt32, _ environment: [String: String] = [:],
    descriptors: [Int32] = [0, 2, 2]
  ) throws -> Child {
    try Child(
      words(program, arguments, as: user), in: directory.path, environment: variables(environment), descriptors: descriptors)
  }

  private func words(_ program: String, _ arguments: [String], as user: UInt32) -> [String] {
    ["/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", program] + arguments
  }

  private func variables(_ more: [String: String]) -> [String] {
    ["HOME": home.path, "PATH": "\(programs.path):/usr/bin:/bin"].merging(more) { $1 }.map { "\($0)=\($1)" }
  }

  /// `coffer`, with the passphrase where it takes one.
  public func coffer(_ arguments: String..., input: String = "") throws -> Child.Outcome {
    try run(programs.appending(path: "coffer").path, arguments, input: input)
  }
}
