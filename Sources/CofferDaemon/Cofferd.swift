import AppContainers
import ArgumentParser
import CofferAgent
import CofferAudit
import CofferFiles
import CofferStorage
import Glibc
import SecretMemory
import UnitCredentials

/// Keeps a vault unlocked, and gives each program what is its own.
struct Cofferd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cofferd", abstract: "Keep a vault unlocked, and give each program its own items.",
    discussion:
      "Started by `coffer vault unlock`, or by the service manager. Starts locked, unless $CREDENTIALS_DIRECTORY holds coffer.key or coffer.passphrase. SIGTERM ends it.",
    version: "0.1.0")

  @Option(help: ArgumentHelp("The vault's file.", valueName: "path"), completion: .file())
  var vault: String?

  @Option(
    help: ArgumentHelp(
      "Lock after so many minutes without use, else 15, or as the vault's policy says; 0: never.", valueName: "minutes"))
  var idle: Int?

  @Option(
    help: ArgumentHelp(
      "If the owner is asked first, offer to agree for so many minutes; 0: only once.", valueName: "minutes"))
  var lease = 5

  @Option(
    name: .customLong("ready-fd"),
    help: ArgumentHelp("Write a line to this open descriptor when it listens, or why it does not.", valueName: "n"))
  var readyDescriptor: Int32?

  @Flag(help: "Use memory that cannot be locked, and may be written to the swap space.")
  var allowSwap = false

  @Flag(help: "Keep the vault of another user. Only the socket that was handed over leads to it.")
  var system = false

  @Option(help: ArgumentHelp("With --system: the number of that user.", valueName: "uid"))
  var user: UInt32?

  @Option(
    help: ArgumentHelp(
      "With --system: the directory of the vault and its state, else /var/lib/coffer/UID.", valueName: "directory"),
    completion: .directory)
  var directory: String?

  @Option(
    help: ArgumentHelp(
      "With --system: the directory that maps credentials of services to items, else /etc/coffer/services.",
      valueName: "directory"), completion: .directory)
  var services: String?

  /// The descriptor is the caller's, who waits for it; only what was handed over can be that.
  func checkReadyDescriptor() throws(StartFailure) {
    guard let readyDescriptor else { return }
    let mode = fcntl(readyDescriptor, F_GETFL)
    guard mode >= 0 else {
      throw .usage("--ready-fd \(readyDescriptor): the descriptor is not open", hint: "--ready-fd 3 3>FILE")
    }
    guard mode & O_ACCMODE != O_RDONLY else { throw .usage("--ready-fd \(readyDescriptor): is not open for writing") }
  }

  private func check() throws(StartFailure) {
    guard !system || user != nil else { throw .usage("--system: takes the user whom it serves: --user UID") }
    guard system || user == nil else { throw .usage("--user: takes --system") }
    guard system || directory == nil else { throw .usage("--directory: takes --system") }
    guard !system || vault == nil else { throw .usage("--vault: with --system the vault is in the directory") }
    guard directory?.hasPrefix("/") ?? true else { throw .usage("--directory: is not absolute") }
    guard system || services == nil else { throw .usage("--services: takes --system") }
    guard services?.hasPrefix("/") ?? true else { throw .usage("--services: is not absolute") }
    guard (0...60 * 24 * 365).contains(idle ?? 0) else { throw .usage("--idle: 0 to 525600 minutes") }
    guard (0...OwnerQuestions.maximumMinutes).contains(lease) else { throw .usage("--lease: 0 to 525600 minutes") }
  }

  func run() throws {
    try checkReadyDescriptor()
    do {
      try check()
      try serve()
    } catch {
      let failure = StartFailure(error)
      say(failure.isRunning ? "running\n" : failure.text)
      throw failure
    }
  }

  private func serve() throws {
    DescriptorLimit.raise()
    if allowSwap { LockedMemory.policy = .allowSwap }
    let waiting = SignalsToEnd.block()
    // An agent that can keep no secret would have the vault, and answer no program.
    _ = try Secret(count: 1)
    let service =
      try user.map {
        try Service(
          user: $0, in: directory ?? Places.systemDirectory(of: $0), services: services ?? CredentialMap.standardDirectory)
      }
      ?? Service(vault: vault, leaseMinutes: lease)
    // All paths are absolute by now, and the file system where it was started can be unmounted then.
    guard unsafe chdir("/") == 0 else { throw StartFailure(.inputOutput, "/: \(ErrorNumber.text(of: errno))") }
    let opensItself = try service.unlockWithServiceCredential()
    say("ready\n")
    service.watchLogind()
    // No person is there to unlock it again: only a time that was chosen, here or by the policy, locks it.
    IdleLock(service, idle: idle ?? (opensItself && service.isOfSystem ? 0 : nil), waiting).start()
    guard service.credentials?.start() ?? true else {
      throw StartFailure(.inputOutput, "no thread for the credentials of services")
    }
    service.server.run()
    service.credentials?.end()
    // Not left to the end of the process, in which nothing is released.
    service.vault.end()
    try? service.log.flush()
  }

  private func say(_ text: String) {
    guard let readyDescriptor else { return }
    Cofferd.write(text, to: readyDescriptor)
    // A standard descriptor that is closed would be the next file to be opened.
    if readyDescriptor > STDERR_FILENO { close(readyDescriptor) }
  }

  static func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}

extension Cofferd {
  /// Runs the program and returns its exit status.
  static func start() -> Int32 {
    do {
      var command = try parsed()
      try command.run()
      return 0
    } catch {
      // Help and the version come as errors.
      if !(error is StartFailure), exitCode(for: error) == .success {
        write(fullMessage(for: error) + "\n", to: STDOUT_FILENO)
        return 0
      }
      let failure = StartFailure(error)
      write("cofferd: \(failure.text)", to: STDERR_FILENO)
      return failure.status.rawValue
    }
  }

  /// Parses the arguments. Errors of the parser get the form of all other errors; help and the version are printed as they are.
  private static func parsed() throws -> any ParsableCommand {
    do {
      return try parseAsRoot()
    } catch {
      guard exitCode(for: error) != .success else { throw error }
      let message = message(for: error).split(separator: "\n").first.map(String.init) ?? "Not understood"
      throw StartFailure.usage("arguments: \(message.prefix(1).lowercased())\(message.dropFirst())")
    }
  }
}
