import CofferFiles
import Glibc

/// A command that runs in a session of its own, without a terminal or on a new one.
final class Child {
  struct Failed: Error {
    let what: String
  }

  let process: pid_t
  private var status: Int32?
  /// In milliseconds, with all its children; known at the end.
  private(set) var processorTime = 0.0

  /// - Parameters:
  ///   - descriptors: what becomes descriptor 0, 1 and 2.
  ///   - terminal: a terminal that becomes all three, and the controlling one, instead.
  init(_ command: String, in directory: String, environment: [String], descriptors: [Int32] = [], terminal: String? = nil) throws
  {
    var shell = ChildProgram("/bin/sh", ["-c", "cd '\(directory)' || exit 99\n\(command)"])
    shell.environment = environment
    // The first terminal that the leader of a session opens is its controlling one.
    shell.streams = terminal.map { [.path($0), .descriptor(0), .descriptor(0)] } ?? descriptors.map { .descriptor($0) }
    shell.hasSession = true
    shell.blocked = ChildProgram.noSignals
    shell.defaults = ChildProgram.allSignals
    let started = shell.start()
    guard started.errno == 0 else { throw Failed(what: "posix_spawn: \(started.errno)") }
    process = started.process
  }

  /// The exit status, 128 + the signal, or nil if it still runs at `deadline`; it is then killed with all its children.
  /// With `killing` false it is left alone.
  func wait(until deadline: Deadline, killing: Bool = true) -> Int32? {
    while status == nil {
      var raw: Int32 = 0
      var usage = rusage()
      if unsafe wait4(process, &raw, WNOHANG, &usage) == process {
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        processorTime = Double(seconds) * 1e3 + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3
        status = raw & 0x7F == 0 ? raw >> 8 & 0xFF : 128 + raw & 0x7F
        break
      }
      guard !deadline.hasPassed else {
        guard killing else { return nil }
        kill(-process, SIGKILL)
        _ = unsafe waitpid(process, &raw, 0)
        return nil
      }
      usleep(500)
    }
    return status
  }

  deinit {
    guard status == nil else { return }
    kill(-process, SIGKILL)
    _ = wait(until: Deadline(milliseconds: 1000))
  }
}
