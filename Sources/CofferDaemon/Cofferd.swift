import Agent
import AppContainers
import ArgumentParser
import AuditLog
import CLinux
import Glibc
import ProcessHardening
import Storage
import VaultCore

/// Keeps a vault unlocked, and gives each program what is its own.
struct Cofferd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cofferd", abstract: "Keep a vault unlocked, and give each program what is its own.",
    discussion: "Started by `coffer vault unlock`, or by the service manager. Starts locked. SIGTERM ends it.", version: "0.1.0")

  @Option(help: ArgumentHelp("The vault's file.", valueName: "path"), completion: .file())
  var vault: String?

  @Option(help: ArgumentHelp("Lock after so many minutes without use; 0: never.", valueName: "minutes"))
  var idle = 15

  @Option(
    help: ArgumentHelp(
      "Where the owner is asked first, offer to agree for so many minutes; 0: only once.", valueName: "minutes"))
  var lease = 5

  @Option(
    name: .customLong("ready-fd"),
    help: ArgumentHelp("Write a line to this open descriptor when it listens, or why it does not.", valueName: "n"))
  var readyDescriptor: Int32?

  @Flag(help: "Use memory that cannot be locked, and may be written to the swap space.")
  var allowSwap = false

  @Flag(help: "Keep the vault of another user, who reaches it through the socket that was handed over alone.")
  var system = false

  @Option(help: ArgumentHelp("With --system: the number of that user.", valueName: "uid"))
  var user: UInt32?

  @Option(
    help: ArgumentHelp("With --system: where everything is kept; else /var/lib/coffer/UID.", valueName: "directory"),
    completion: .directory)
  var directory: String?

  func validate() throws {
    guard system == (user != nil), system || directory == nil else {
      throw ValidationError("--system, --user and --directory go together")
    }
    guard !system || vault == nil else { throw ValidationError("--vault: with --system the vault is in the directory") }
    guard directory?.hasPrefix("/") ?? true else { throw ValidationError("--directory: is not absolute") }
    guard (0...60 * 24 * 365).contains(idle) else { throw ValidationError("--idle: 0 to 525600 minutes") }
    guard (0...OwnerQuestions.maximumMinutes).contains(lease) else { throw ValidationError("--lease: 0 to 525600 minutes") }
  }

  func run() throws {
    DescriptorLimit.raise()
    if allowSwap { LockedMemory.policy = .allowSwap }
    let waiting = SignalsToEnd.block()
    do {
      // An agent that can keep no secret would have the vault, and answer nobody.
      _ = try Secret(count: 1)
      let service =
        try user.map { try Service(user: $0, in: directory ?? Places.systemDirectory(of: $0)) }
        ?? Service(vault: vault, leaseMinutes: lease)
      // Nothing is kept from being unmounted or removed because this was started there.
      _ = unsafe chdir("/")
      say("ready")
      service.watchLogind()
      Guardian(service, idle: idle == 0 ? nil : Int64(idle) * 60_000, waiting).start()
      service.server.run()
      // Not left to the end of the process, in which nothing is released.
      service.vault.end()
      try? service.log.flush()
    } catch {
      let reason = Self.reason(error)
      say(reason)
      let line = Array("cofferd: \(reason)\n".utf8)
      _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
      throw ExitCode.failure
    }
  }

  private func say(_ line: String) {
    guard let readyDescriptor else { return }
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(readyDescriptor, $0.baseAddress, $0.count) }
    close(readyDescriptor)
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case AgentServer.Failure.running: "running"
    case AgentServer.Failure.openDirectory: "the directory of its socket is not this user's alone, or not a directory"
    case AgentServer.Failure.lock(let error): "\(error.code.name): \(error.detail)"
    case AgentServer.Failure.system(let what, let number): unsafe "\(what): \(String(cString: strerror(number)))"
    case ListeningSocket.Failure.unfit(let why): "the socket that was handed over: \(why)"
    case let error as StorageError: "\(error.code.name): \(error.detail)"
    case let error as ContainerError: "\(error.code.name): \(error.detail)"
    case let error as VaultError where error.code == .memoryNotLockable: "no memory can be locked (ulimit -l)"
    default: "\(error)"
    }
  }
}
