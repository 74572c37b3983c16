import CLinux
import CofferConsole
import CofferFiles
import Glibc
import ProgramSecrets

/// The output of a program that is searched for secrets: standard output, standard error, or both in one.
struct OutputRelay {
  fileprivate(set) var outputs: [RelayedOutput] = []

  /// Moves output until one of `others` has something.
  /// - Parameter others: As poll(2) takes them.
  /// - Returns: `others`, as poll(2) has left them.
  func wait(_ others: [pollfd]) -> ArraySlice<pollfd> {
    while true {
      let rest = move(others)
      if rest.contains(where: { $0.revents != 0 }) { return rest }
    }
  }

  /// Waits once, and moves the output that can be.
  private func move(_ others: [pollfd]) -> ArraySlice<pollfd> {
    var entries = others
    for output in outputs { entries += output.entries }
    let count = unsafe poll(&entries, nfds_t(entries.count), outputs.map(\.releaseTime).filter { $0 >= 0 }.min() ?? -1)
    guard count > 0 else {
      if count == 0 { for output in outputs { output.release() } }
      return []
    }
    var next = others.count
    for output in outputs {
      output.move(entries[next..<next + 2])
      next += 2
    }
    return entries[..<others.count]
  }

  /// Writes what the program has written by its end.
  /// - Parameter signals: One that comes ends the wait for a reader that does not read.
  func drain(_ signals: borrowing BlockedSignals) {
    for output in outputs { output.programHasEnded() }
    while true {
      for output in outputs { output.move() }
      guard outputs.contains(where: { !$0.isOver }) else { return }
      _ = move([pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)])
      while let signal = signals.nextWithSender() {
        if !signal.isOwn, ![SIGCHLD, SIGWINCH, SIGCONT].contains(signal.number) { return }
      }
    }
  }

  /// After `drain`, when the terminal is as before.
  /// - Parameter status: The status of the program, as waitpid(2) has it.
  /// - Returns: The same, or the status of a failure, if output was lost and the program ended with 0.
  func finish(_ status: Int32) -> Int32 {
    for output in outputs where output.leave() {
      Descriptor.error.note(
        "note: \(output.target.name): a program that was left running has it, and its further output is lost\n")
    }
    return status == 0 && outputs.contains(where: \.hasLost) ? Launch.notStarted << 8 : status
  }

  // MARK: Places of a program's output

  /// The standard streams of a program, and their readers here.
  struct Streams {
    var relay = OutputRelay()
    var program: [ChildProgram.Stream] = [.same, .same, .same]
    /// Descriptors of the program, closed here after the start.
    var given: [HeldDescriptor] = []
  }

  /// Adds pipes for the streams that are open here, and not a terminal's.
  static func addPipes(to streams: inout Streams, except terminals: Set<Int32>, _ secrets: ConcealedSecrets) throws {
    let outputs = [Descriptor.output, .error].filter { !terminals.contains($0.number) && Self.isRelayed($0.number) }
    if outputs.count == 2, isSame(STDOUT_FILENO, STDERR_FILENO) {
      // One pipe for both, so that the order stays.
      let pipe = try streams.addPipe(to: .output, secrets)
      for number in [1, 2] { streams.program[number] = .descriptor(pipe) }
    } else {
      for output in outputs { streams.program[Int(output.number)] = .descriptor(try streams.addPipe(to: output, secrets)) }
    }
  }

  /// Whether there is a reader: not for a stream that was closed, or for /dev/null.
  private static func isRelayed(_ number: Int32) -> Bool {
    guard fcntl(number, F_GETFL) & O_ACCMODE != O_RDONLY else { return false }
    var status = stat()
    var null = stat()
    guard unsafe fstat(number, &status) == 0, unsafe stat("/dev/null", &null) == 0 else { return true }
    return status.st_mode & S_IFMT != S_IFCHR || status.st_rdev != null.st_rdev
  }

  private static func isSame(_ first: Int32, _ second: Int32) -> Bool {
    var (one, other) = (stat(), stat())
    guard unsafe fstat(first, &one) == 0, unsafe fstat(second, &other) == 0 else { return false }
    guard one.st_dev == other.st_dev, one.st_ino == other.st_ino else { return false }
    // A file that was opened twice has two places for writing.
    return one.st_mode & S_IFMT != S_IFREG || coffer_is_same_open_file(first, second) != 0
  }
}

extension OutputRelay.Streams {
  fileprivate mutating func addPipe(to target: Descriptor, _ secrets: ConcealedSecrets) throws -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0, let source = OwnedDescriptor(ends[0]), let given = OwnedDescriptor(ends[1]) else {
      throw SystemError.last.failure("pipe")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.given.append(HeldDescriptor(given))
    add(try RelayedOutput(source, isTerminal: false, to: target, secrets))
    return ends[1]
  }

  mutating func add(_ output: RelayedOutput) { relay.outputs.append(output) }
}
