import CLinux
import CofferConsole
import CofferFiles
import Glibc

/// Becoming another program, and asking one whether it works.
enum Launch {
  /// As env(1) and its like: a failure of the command itself, mostly that nothing was started; found but not started; not found.
  static let notStarted: Int32 = 125
  private static let notExecutable: Int32 = 126
  private static let notFound: Int32 = 127

  /// This process becomes the program, so that signals, the terminal and the exit status are its own.
  /// - Parameters:
  ///   - descriptor: Stays open in it.
  ///   - isAlone: Whether all others but the three standard ones are closed. An inherited descriptor leads out of a sandbox:
  ///     from a directory, `..` continues.
  static func become(_ program: String, _ arguments: [String], keeping descriptor: Int32, alone isAlone: Bool) throws -> Never {
    if isAlone, coffer_close_on_exec_from(3) != 0 { throw SystemError.last.failure("close_range") }
    _ = fcntl(descriptor, F_SETFD, 0)
    HiddenTerminal.restore()
    Hardening.end()
    _ = unsafe CStrings.lend([program] + arguments) { unsafe execv(program, $0) }
    fail(program, SystemError.last)
  }

  /// Ends because a program could not be started.
  static func fail(_ program: String, _ error: SystemError) -> Never {
    Descriptor.error.note("coffer: \(program.escapingControls()): \(error.text)\n")
    exit([ENOENT, ENOTDIR].contains(error.number) ? notFound : notExecutable)
  }

  /// Whether it ends with 0. Nothing that it prints is shown.
  static func succeeds(_ program: String, _ arguments: [String]) throws -> Bool {
    var child = ChildProgram(program, arguments)
    child.streams = [.none, .none, .none]
    child.closesOthers = false
    let started = child.start()
    guard started.errno == 0 else { return false }
    guard let status = ChildProgram.wait(for: started.process) else { throw SystemError.last.failure(program) }
    return status == 0
  }
}
