import CLinux
import CofferConsole
import CofferFiles
import Glibc
import ProgramSecrets
import SecretMemory

/// A program on a pseudo-terminal of its own, for which this process stands at the terminal at which it was started.
final class SessionProgram {
  private let outer: OuterTerminal
  private let master: HeldDescriptor
  private var streams: OutputRelay.Streams
  private let signals: BlockedSignals
  private let channel: MonitorChannel
  /// Its end of the channel, until it has it.
  private var monitorEnd: HeldDescriptor?
  private let keys: TypedKeys
  private var process: pid_t = 0
  /// Whether the program gets the terminal when this process has it. In a pipeline, whose other programs may read the keys, not before it
  /// asks: it is in the background of its terminal until then, and is stopped by SIGTTIN or SIGTTOU when it wants keys or another mode.
  private var wantsTerminal: Bool
  private var isInForeground = false
  private var hasResumed = false

  private static let stops = [SIGTSTP, SIGTTIN, SIGTTOU]
  private static let forwarded = BlockedSignals.ending + [SIGCONT, SIGWINCH]

  /// The standard streams that are a terminal, and the same one as the first of standard output and standard error.
  private static func terminals() -> Set<Int32> {
    var first: stat?
    var found: Set<Int32> = []
    for number in [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO] where isatty(number) == 1 {
      var status = stat()
      guard unsafe fstat(number, &status) == 0, first.map({ $0.st_rdev == status.st_rdev }) ?? (number != STDIN_FILENO) else {
        continue
      }
      first = first ?? status
      found.insert(number)
    }
    return found
  }

  private static func isPipe(_ number: Int32) -> Bool {
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else { return false }
    return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  /// Returns nil if neither standard output nor standard error is a terminal.
  init?(_ secrets: ConcealedSecrets) throws {
    let terminals = Self.terminals()
    guard let target = [Descriptor.output, .error].first(where: { terminals.contains($0.number) }) else { return nil }
    let isShared = Self.isPipe(STDOUT_FILENO) || Self.isPipe(STDERR_FILENO)
    let outer = OuterTerminal(target, isShared: isShared)
    var (ends, mode, size): ((Int32, Int32), _, _) = ((-1, -1), outer.mode ?? termios(), outer.size ?? winsize())
    guard unsafe openpty(&ends.0, &ends.1, nil, &mode, &size) == 0, let slave = OwnedDescriptor(ends.1),
      let reader = OwnedDescriptor(fcntl(ends.0, F_DUPFD_CLOEXEC, 0)), let master = OwnedDescriptor(ends.0)
    else { throw SystemError.last.failure("pseudo-terminal") }
    for end in [master.number, slave.number] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    streams = OutputRelay.Streams()
    for number in terminals { streams.program[Int(number)] = .descriptor(slave.number) }
    streams.given.append(HeldDescriptor(slave))
    // Two drivers would write two returns.
    streams.add(try RelayedOutput(reader, isTerminal: true, to: target, secrets, addsReturns: { outer.addsReturns }))
    try OutputRelay.addPipes(to: &streams, except: terminals, secrets)
    var pair: [Int32] = [-1, -1]
    guard unsafe coffer_local_pair(&pair) == 0, let here = OwnedDescriptor(pair[0]), let there = OwnedDescriptor(pair[1]) else {
      throw SystemError.last.failure("socket")
    }
    _ = fcntl(there.number, F_SETFD, 0)
    channel = MonitorChannel(here)
    monitorEnd = HeldDescriptor(there)
    self.outer = outer
    self.master = HeldDescriptor(master)
    keys = try TypedKeys()
    wantsTerminal = terminals.contains(STDIN_FILENO) && !isShared
    signals = try BlockedSignals(BlockedSignals.notIgnored(Self.forwarded + Self.stops) + [SIGCHLD])
  }

  deinit { outer.restore() }

  // MARK: Start

  /// - Returns: 0, or the errno.
  func start(_ file: ProgramFile, _ words: CStrings.Pointers, _ variables: EnvironmentBlock) throws -> Int32 {
    isInForeground = wantsTerminal && outer.isForeground
    let started = unsafe startMonitor(file, words)
    (streams.given, monitorEnd) = ([], nil)
    guard started.errno == 0 else { throw SystemError(number: started.errno).failure("/proc/self/exe") }
    if isInForeground { outer.makeRaw() }
    guard channel.send(variables), case .started(let number, let process) = channel.nextReport() else { throw Self.lost }
    self.process = process
    return number
  }

  private static let lost = Failure(.other, "the process that leads the session of the program has ended")

  private func startMonitor(
    _ file: ProgramFile, _ words: CStrings.Pointers
  ) -> (process: pid_t, errno: Int32) {
    var program = ChildProgram(ProgramMonitor.name)
    program.closesOthers = false
    program.streams = streams.program
    program.hasSession = true
    program.blocked = signals.previousMask
    let own = [ProgramMonitor.name, "\(monitorEnd?.number ?? -1)", "\(outer.descriptor.number)", isInForeground ? "1" : "0"]
    let itself = unsafe ProgramFile(at: "/proc/self/exe")
    return unsafe CStrings.lend(own) { own in
      unsafe file.withPath { path in
        var all: [UnsafeMutablePointer<CChar>?] = unsafe (0..<4).map { unsafe own[$0] }
        unsafe all.append(UnsafeMutablePointer(mutating: path))
        var next = unsafe words
        while let word = unsafe next[0] {
          unsafe all.append(word)
          unsafe next += 1
        }
        unsafe all.append(nil)
        return unsafe all.withUnsafeMutableBufferPointer { unsafe itself.start(program, $0.baseAddress!, environ) }
      }
    }
  }

  // MARK: Life

  /// - Returns: The status of the program, as waitpid(2) has it.
  func wait() throws -> Int32 {
    while true {
      var entries = [signals.descriptor, channel.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      entries += keys.entries(from: outer.descriptor.number, to: master.number, isReading: isInForeground)
      let ready = streams.relay.wait(entries)
      guard ready.count == entries.count else { continue }
      while let signal = signals.nextWithSender() { if !signal.isOwn { take(signal.number) } }
      for key in keys.move(ready[2...]) { interruptOthers(key) }
      guard ready[1].revents != 0 else { continue }
      guard case .status(let status) = channel.nextReport() else { throw Self.lost }
      guard status & 0xFF == 0x7F else {
        streams.relay.drain(signals)
        outer.restore()
        return streams.relay.finish(status)
      }
      hasStopped((status >> 8) & 0xFF)
    }
  }

  private func take(_ signal: Int32) {
    switch signal {
    case SIGCHLD: break
    case SIGCONT:
      // After a stop the program goes on already.
      if !hasResumed { resume() }
      hasResumed = false
    case SIGWINCH:
      copySize()
      // The kernel tells only the foreground.
      if !isInForeground { channel.send(.signal(SIGWINCH)) }
    default: channel.send(.signal(signal))
    }
  }

  /// The terminal's driver has sent the signal of a key to the program's group. Without coffer all programs of this process's group get it,
  /// such as a shell that runs a script: it would go on with the next command.
  private func interruptOthers(_ key: UInt8) {
    guard let mode = OuterTerminal(Descriptor(number: master.number, name: ""), isShared: false).mode,
      mode.c_lflag & tcflag_t(ISIG) != 0,
      tcgetpgrp(master.number) == process
    else { return }
    if key == mode.c_cc.0 { kill(0, SIGINT) }
    if key == mode.c_cc.1 { kill(0, SIGQUIT) }
  }

  private func copySize() {
    guard var size = outer.size else { return }
    _ = unsafe ioctl(master.number, UInt(TIOCSWINSZ), &size)
  }

  private func hasStopped(_ signal: Int32) {
    if signal == SIGTTIN || signal == SIGTTOU, !isInForeground, outer.isForeground {
      // It wants the terminal, which this process has.
      wantsTerminal = true
      resume()
    } else {
      suspend(signal)
    }
  }

  /// Stops as the program has, and comes back when this process goes on.
  private func suspend(_ signal: Int32) {
    for output in streams.relay.outputs { output.move() }
    outer.restore()
    if Self.stops.contains(signal) {
      // All of the process group, as the kernel does for a key. A signal that comes twice acts once.
      kill(0, signal)
      signals.letThrough(signal)
    } else {
      raise(SIGSTOP)
    }
    hasResumed = true
    resume()
  }

  private func resume() {
    isInForeground = wantsTerminal && outer.isForeground
    copySize()
    if isInForeground { outer.makeRaw() }
    channel.send(.resume(inForeground: isInForeground))
  }
}
