import CLinux
package import CofferFiles
package import CofferSync
import Glibc
package import VaultCore

/// An engine in a directory of another machine, through `ssh HOST coffer sync serve PATH`.
///
/// ssh asks nothing: a key has to be there, from an agent or without a passphrase. It ends with this value.
package final class RemoteEngine: Engine {
  private let pipes: FramePipes
  private let process: Int32
  private let errors: ErrorLines?
  /// Whether the other end owes the answer to a call to wait.
  private var isWaiting = false

  /// - Parameter tell: Gets the lines that ssh and the other machine write to standard error, as they are, on another thread.
  /// - Throws: `toolMissing` if there is no ssh; `toolFailed` if it ends, or if the other end refuses.
  package init(
    _ host: String, _ path: String, _ space: Identifier, _ purpose: EngineAddress.Purpose,
    tell: @escaping @Sendable (String) -> Void
  ) throws(FileError) {
    var program = ChildProgram(
      "/usr/bin/env",
      [
        "ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15", "--", host,
        "coffer sync serve \(purpose.rawValue) \(space) \(Self.quoted(path))",
      ])
    var ends: [Int32] = [0, 0]
    guard unsafe coffer_local_pair(&ends) == 0 else { throw FileError(errno: errno, "ssh") }
    let errors = ErrorLines(tell: tell)
    program.streams = [.descriptor(ends[1]), .descriptor(ends[1]), errors.map { .descriptor($0.other) } ?? .none]
    let started = program.start()
    close(ends[1])
    errors?.closeOther()
    self.errors = errors
    pipes = FramePipes(input: ends[0], output: ends[0])
    process = started.process
    guard started.errno == 0 else { throw FileError(errno: started.errno, "ssh") }
    // If ssh has ended, a write is an error and no signal.
    signal(SIGPIPE, SIG_IGN)
    let greeting: [UInt8]?
    do {
      greeting = try pipes.receive(isAnswer: true)
    } catch {
      guard error.code == .tooLarge else { throw error }
      throw Self.otherGreeting
    }
    guard let greeting else { throw FileError(.toolFailed, "ssh has ended before coffer answered") }
    guard greeting.first == EngineCall.version, let answer = EngineAnswer(Array(greeting.dropFirst())) else {
      throw Self.otherGreeting
    }
    if case .failed(let message) = answer { throw Self.failure(message) }
  }

  /// In milliseconds: a program of the other machine that does not end with its input does not keep this one.
  private static let endPatience: Int32 = 20_000

  deinit {
    close(pipes.input)
    guard process > 0 else { return }
    if let end = OwnedDescriptor(coffer_pidfd_open(process)) {
      var ending = pollfd(fd: end.number, events: Int16(POLLIN), revents: 0)
      unsafe poll(&ending, 1, Self.endPatience)
    }
    // Nothing happens to one that has ended.
    kill(process, SIGKILL)
    _ = ChildProgram.wait(for: process)
  }

  /// For the shell of the other machine.
  private static func quoted(_ path: String) -> String {
    "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  private func answer(_ call: EngineCall) throws(FileError) -> EngineAnswer {
    try pipes.send(call.bytes)
    if isWaiting {
      isWaiting = false
      // The call has ended the waiting, if nothing else had.
      guard try pipes.receive(isAnswer: true) != nil else { throw FileError(.toolFailed, "the other end has ended") }
    }
    guard let bytes = try pipes.receive(isAnswer: true), let answer = EngineAnswer(bytes) else {
      throw FileError(.toolFailed, "the other end has ended, or answers in another form")
    }
    if case .failed(let message) = answer { throw Self.failure(message) }
    return answer
  }

  /// An error of the directory there, as `EngineServer` writes it.
  private static func failure(_ message: String) -> FileError {
    let parts = message.split(separator: ": ", maxSplits: 1).map(String.init)
    guard parts.count == 2, let code = FileError.Code(rawValue: parts[0]) else { return FileError(.toolFailed, message) }
    return FileError(code, parts[1])
  }

  private static var otherGreeting: FileError {
    FileError(.toolFailed, "that machine has another version of coffer, or its shell prints something before coffer starts")
  }

  private static var otherAnswer: FileError { FileError(.toolFailed, "the other end answers another call") }

  package func append(_ number: UInt64, _ entry: [UInt8]) throws(FileError) -> Appended {
    guard case .appended(let outcome) = try answer(.append(number, entry)) else { throw Self.otherAnswer }
    return outcome
  }

  package func read(from number: UInt64, limit: Int) throws(FileError) -> [NumberedEntry] {
    guard case .entries(let entries) = try answer(.read(number, limit: limit)) else { throw Self.otherAnswer }
    return entries
  }

  package func put(_ name: ObjectName, _ object: [UInt8]) throws(FileError) {
    guard case .done = try answer(.put(name, object)) else { throw Self.otherAnswer }
  }

  package func get(_ name: ObjectName) throws(FileError) -> [UInt8]? {
    guard case .object(let object) = try answer(.get(name)) else { throw Self.otherAnswer }
    return object
  }

  package func names(after last: ObjectName?) throws(FileError) -> [ObjectName] {
    guard case .names(let names) = try answer(.names(after: last)) else { throw Self.otherAnswer }
    return names
  }

  package func delete(_ names: [ObjectName]) throws(FileError) {
    guard case .done = try answer(.delete(names)) else { throw Self.otherAnswer }
  }

  package func deleteEntries(_ ranges: [Range<UInt64>]) throws(FileError) {
    guard case .done = try answer(.deleteEntries(ranges)) else { throw Self.otherAnswer }
  }
}

extension RemoteEngine: WaitingEngine {
  /// In milliseconds: the other end answers before.
  private static let patience: Int32 = 90_000

  package func beginWaiting(for number: UInt64) throws(FileError) -> LogSign {
    if !isWaiting { try pipes.send(EngineCall.wait(number).bytes) }
    isWaiting = true
    return LogSign(descriptor: pipes.input, milliseconds: Self.patience)
  }
}
