import CLinux
import CofferConsole
import CofferFiles
import Glibc
import OpenSSHAgent
import ProgramSecrets
import SSHAgentProtocol
import SecretMemory

/// A private key that ssh-add(1) has read from a file.
final class AddedKey: Sendable {
  let line: PublicKeyLine
  /// As `KeyForAdding` has it.
  let secret: Secret

  init(_ line: PublicKeyLine, _ secret: consuming Secret) {
    self.line = line
    self.secret = secret
  }
}

/// Has ssh-add(1) read files, so that every form of a key is understood that OpenSSH understands. ssh-add hands the keys over as it hands
/// them to an agent; an agent of OpenSSH, which ends with this command, checks them and says what their public keys are.
struct KeyReader: ~Copyable {
  private let scratch: ScratchDirectory
  private let listener: OwnedDescriptor
  private let agent: PrivateAgent
  private let checker: AgentConnection
  private let options: [String]
  private let isInputAllowed: Bool

  private static let missing = Failure(
    .other, "ssh-add or ssh-agent is missing, or does not start", hint: "install it: apt install openssh-client")

  /// - Parameters:
  ///   - destinations: As ssh-add -h takes them.
  ///   - knownHosts: As ssh-add -H takes it.
  ///   - isInputAllowed: Whether ssh-add may ask for a passphrase.
  init(destinations: [String], knownHosts: String?, isInputAllowed: Bool) throws {
    let scratch = try ScratchDirectory(for: "ssh add", hint: "set XDG_RUNTIME_DIR")
    let listener = try Self.listener(at: scratch.filePath())
    let (agent, checker) = try Self.checker()
    self.scratch = scratch
    self.listener = listener
    (self.agent, self.checker) = (agent, checker)
    options = ["-q"] + (knownHosts.map { ["-H", $0] } ?? []) + destinations.flatMap { ["-h", $0] }
    self.isInputAllowed = isInputAllowed
  }

  private static func listener(at path: String) throws -> OwnedDescriptor {
    guard let listener = OwnedDescriptor(coffer_local_socket()), unsafe coffer_local_name(listener.number, path, 1) == 0,
      listen(listener.number, 4) == 0
    else { throw SystemError.last.failure(path) }
    return listener
  }

  private static func checker() throws -> (PrivateAgent, AgentConnection) {
    do {
      let agent = try PrivateAgent()
      let connection = try AgentConnection(to: agent.socket)
      agent.hide()
      return (agent, connection)
    } catch {
      throw missing
    }
  }

  /// - Parameter file: A path, or `-` for standard input.
  /// - Throws: other, if ssh-add fails, which has said why; cancelled.
  func keys(in file: String) throws -> [AddedKey] {
    try keys(named: file, options + (file == "-" ? ["-"] : ["--", file]), file == "-" ? .same : .none)
  }

  /// - Parameters:
  ///   - content: The content of a file.
  ///   - file: Its name in errors.
  /// - Throws: as `keys(in:)`.
  func keys(in content: borrowing Secret, named file: String) throws -> [AddedKey] {
    let sealed = try SealedFile.make(of: content, named: file)
    return try keys(named: file, options + ["-"], .descriptor(sealed.number))
  }

  private func keys(named file: String, _ words: [String], _ input: ChildProgram.Stream) throws -> [AddedKey] {
    // Interrupted, it still removes what it has made.
    let signals = try BlockedSignals([SIGINT, SIGQUIT, SIGTERM, SIGHUP])
    var program = ChildProgram("ssh-add", words)
    program.isSearched = true
    program.streams = [input, .none, .same]
    program.blocked = signals.previousMask
    program.defaults = ChildProgram.signals([SIGPIPE, SIGXFSZ])
    setVariables()
    let child = program.start()
    guard child.errno == 0 else { throw Self.missing }
    guard let process = OwnedDescriptor(coffer_pidfd_open(child.process)) else { throw SystemError.last.failure("ssh-add") }
    let added = try serve(child.process, process.number, signals.descriptor)
    let status = ChildProgram.wait(for: child.process) ?? 0
    guard signals.next() == nil, status & 0x7F == 0 else { throw Failure.cancelled }
    guard status == 0 else {
      throw Failure(
        .other, "\(file): ssh-add has not read the key",
        hint: isInputAllowed ? nil : "--no-input: it may not ask for a passphrase")
    }
    return added
  }

  /// For ssh-add, which this process alone starts from here on.
  private func setVariables() {
    unsafe setenv("SSH_AUTH_SOCK", scratch.filePath(), 1)
    guard !isInputAllowed else { return }
    unsafe setenv("SSH_ASKPASS", "/bin/false", 1)
    unsafe setenv("SSH_ASKPASS_REQUIRE", "force", 1)
  }

  /// Answers ssh-add until it has ended.
  private func serve(_ process: Int32, _ end: Int32, _ signals: Int32) throws -> [AddedKey] {
    var added: [AddedKey] = []
    var connection: AgentConnection?
    var isOver = false
    while !isOver {
      switch Self.ready([connection?.descriptor ?? -1, listener.number, end, signals]) {
      case 0: if let open = connection, try !answerNext(on: open, &added) { connection = nil }
      case 1: connection = accepted(from: process) ?? connection
      case 2: isOver = true
      // From the terminal it has got one too; another one is meant for both.
      default:
        kill(process, SIGTERM)
        isOver = true
      }
    }
    return added
  }

  /// The index of the first descriptor with an event.
  private static func ready(_ descriptors: [Int32]) -> Int? {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while unsafe poll(&entries, nfds_t(entries.count), -1) < 0, errno == EINTR {}
    return entries.firstIndex { $0.revents != 0 }
  }

  /// Returns false if ssh-add has closed the connection.
  private func answerNext(on connection: AgentConnection, _ added: inout [AddedKey]) throws -> Bool {
    guard let message = try connection.receive() else { return false }
    try connection.send(answer(to: message, &added))
    return true
  }

  /// Another program of this user could send a key that is not in the file.
  private func accepted(from process: Int32) -> AgentConnection? {
    guard let descriptor = OwnedDescriptor(coffer_accept(listener.number)) else { return nil }
    var credentials = coffer_credentials()
    guard unsafe coffer_peer_credentials(descriptor.number, &credentials) == 0, credentials.process == process else { return nil }
    return AgentConnection(descriptor)
  }

  private func answer(to message: borrowing Secret, _ added: inout [AddedKey]) throws -> [UInt8] {
    guard KeyForAdding.isAdded(by: message.byte(at: 0)) else { return try checker.answer(to: message) }
    let before = Set(try identities().map(\.key))
    let answer = try checker.answer(to: message)
    if let new = try identities().first(where: { !before.contains($0.key) }), let line = PublicKeyLine(new) {
      added.append(AddedKey(line, try KeyForAdding.key(in: message)))
    }
    return answer
  }

  private func identities() throws -> [Identity] {
    IdentitiesAnswer(parsing: try checker.answer(to: [MessageNumber.requestIdentities]))?.identities ?? []
  }
}
