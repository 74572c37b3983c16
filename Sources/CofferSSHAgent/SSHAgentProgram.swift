import CLinux
import CofferFiles
import CofferStorage
import Glibc
import OpenSSHAgent

/// The program: an agent for ssh that has the user's own keys, as ssh-agent(1) does, and those of the vault.
enum SSHAgentProgram {
  private static let name = "coffer-ssh-agent"
  private static let version = "0.1.0"

  private struct Failure: Error {
    let message: String
    var status: Int32 = 1
  }

  /// Runs the program and returns its exit status.
  static func start() -> Int32 {
    do {
      return try run(Arguments(parsing: Array(CommandLine.arguments.dropFirst())))
    } catch let error as Arguments.Malformed {
      say("\(name): \(error.message)\n\(Arguments.usage)")
      return 2
    } catch let error as ListeningSocket.Failure {
      say("\(name): \(error.words)\n")
    } catch let error as PrivateAgent.Failure {
      say("\(name): OpenSSH's ssh-agent does not start: \(words(error))\n")
    } catch let error as Failure {
      say("\(name): \(error.message)\n")
      return error.status
    } catch {
      say("\(name): \(error)\n")
    }
    return 1
  }

  private static func run(_ arguments: Arguments) throws -> Int32 {
    let variables = ShellVariables(arguments, shell: Environment["SHELL"])
    switch arguments.action {
    case .help: print(Arguments.usage)
    case .version: print("\(name) \(version)\n")
    case .end: print(variables.unset(process: try end()))
    case .start:
      let (socket, process) = try background(arguments)
      print(variables.set(socket: socket, process: process))
    case .serve(let isDebugging):
      let listening = try socket(arguments)
      print(variables.set(socket: listening.path, process: getpid()))
      return try serve(on: listening, arguments, isDebugging: isDebugging)
    case .become(let words): try become(words, arguments)
    }
    return 0
  }

  // MARK: Serving

  private static func socket(_ arguments: Arguments) throws -> ListeningSocket {
    if let handed = try ListeningSocket(environment: { Environment[$0] }) { return handed }
    if let path = arguments.socket { return try ListeningSocket(at: try absolute(path), isOwnPlace: false) }
    return try ListeningSocket(at: Places(environment: { Environment[$0] }).sshAgentSocket, isOwnPlace: true)
  }

  private static func absolute(_ path: String) throws -> String {
    if path.hasPrefix("/") { return path }
    guard let here = unsafe getcwd(nil, 0) else { throw Failure(message: "\(path): \(ErrorNumber.text(of: errno))") }
    defer { unsafe free(here) }
    return Path.join(unsafe String(cString: here), path)
  }

  /// Returns when it is told to end, or OpenSSH's agent has ended.
  private static func serve(on socket: ListeningSocket, _ arguments: Arguments, isDebugging: Bool) throws -> Int32 {
    defer { socket.end() }
    // Open as long as the process is.
    let parent = arguments.isWithParent ? coffer_pidfd_open(getppid()) : -1
    let signals = EndSignals.block()
    Hardening.hide()
    let server = try Server(on: socket, signals, options: arguments.passed, isDebugging: isDebugging)
    if let ready = arguments.readyDescriptor {
      write("\n", ready)
      close(ready)
      // A program that waits for the end of errors must not wait for the agent.
      let nowhere = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
      dup2(nowhere, STDERR_FILENO)
      close(nowhere)
    }
    // Paths are absolute by now, and the file system where it was started can be unmounted then.
    _ = unsafe chdir("/")
    return server.run(until: parent) ? 0 : 1
  }

  // MARK: In the background

  /// Starts this program again, as a process in the background, and returns when it listens.
  private static func background(_ arguments: Arguments, _ more: [String] = []) throws -> (socket: String, process: Int32) {
    let path = try arguments.socket.map(absolute) ?? Places(environment: { Environment[$0] }).sshAgentSocket
    var ends: [Int32] = [0, 0]
    guard unsafe coffer_local_pair(&ends) == 0 else { throw Failure(message: ErrorNumber.text(of: errno)) }
    defer { close(ends[0]) }
    let place = arguments.socket == nil ? [] : ["-a", path]
    var program = ChildProgram("/proc/self/exe", ["-D", "--ready-fd", "3"] + more + place + arguments.passed)
    program.streams = [.none, .none, .same, .descriptor(ends[1])]
    program.hasSession = true
    let started = program.start()
    close(ends[1])
    guard started.errno == 0 else { throw Failure(message: ErrorNumber.text(of: started.errno)) }
    var byte: UInt8 = 0
    while unsafe read(ends[0], &byte, 1) < 0, errno == EINTR {}
    // It has said why on standard error.
    guard byte != 0 else { throw Failure(message: "the agent has not started") }
    return (path, started.process)
  }

  /// Becomes the program, so that signals and the exit status are its own. The agent ends with it.
  private static func become(_ words: [String], _ arguments: Arguments) throws -> Never {
    // It would start itself without an end.
    guard words.last != PrivateAgent.script else {
      throw Failure(message: "ssh-agent in PATH is this program, and not OpenSSH's")
    }
    let (socket, process) = try background(arguments, ["--with-parent"])
    unsafe setenv(ShellVariables.socket, socket, 1)
    unsafe setenv(ShellVariables.process, "\(process)", 1)
    Hardening.end()
    _ = unsafe CStrings.lend(words) { words in unsafe words[0].map { unsafe execvp($0, words) } }
    throw Failure(message: "\(words[0]): \(ErrorNumber.text(of: errno))", status: errno == ENOENT ? 127 : 126)
  }

  private static func end() throws -> Int32 {
    guard let text = Environment[ShellVariables.process] else {
      throw Failure(message: "\(ShellVariables.process) not set, cannot kill agent")
    }
    guard let process = Int32(text), process > 1 else {
      throw Failure(message: "\(ShellVariables.process)=\"\(text)\": not a process")
    }
    guard kill(process, SIGTERM) == 0 else { throw Failure(message: "process \(process): \(ErrorNumber.text(of: errno))") }
    return process
  }

  // MARK: Words

  private static func words(_ error: PrivateAgent.Failure) -> String {
    switch error {
    case .notStarted(let number): ErrorNumber.text(of: number)
    case .ended: "it has ended at once"
    }
  }

  private static func print(_ text: String) { write(text, STDOUT_FILENO) }
  private static func say(_ text: String) { write(text, STDERR_FILENO) }

  private static func write(_ text: String, _ descriptor: Int32) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}
