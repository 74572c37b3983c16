import CofferConsole
import CofferFiles
import Glibc

/// The editor of the person at the terminal.
enum Editor {
  /// How long an editor that was told to end may take, in milliseconds.
  private static let patience: Int32 = 2000

  /// The editor: $VISUAL or $EDITOR, otherwise Debian's `editor`, or vi.
  static func command() throws -> String {
    if let named = Environment["VISUAL"] ?? Environment["EDITOR"] { return named }
    let directories = (Environment["PATH"] ?? "").split(separator: ":")
    for name in ["editor", "vi"] where directories.contains(where: { unsafe access("\($0)/\(name)", X_OK) == 0 }) { return name }
    throw Failure(
      .other, "edit: neither $VISUAL nor $EDITOR is set, and there is neither editor nor vi",
      hint: "EDITOR=nano coffer secret edit NAME")
  }

  /// Runs it on a file and waits.
  ///
  /// An interrupt is the editor's: it shares the terminal. Signals that end this program end the editor first, so that it does
  /// not write to the file any more when that is wiped.
  /// - Returns: the signal that this program got and must die of, after it has cleaned up.
  /// - Throws: `cancelled` where the editor failed or was interrupted.
  static func run(_ editor: String, on path: String, _ signals: borrowing BlockedSignals) throws -> Int32? {
    let child = try start(editor, path, mask: signals.previousMask)
    var ending: Int32?
    var isForced = false
    while true {
      var entry = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&entry, 1, ending == nil ? -1 : patience)
      if ready == 0, !isForced {
        kill(child, SIGKILL)
        isForced = true
      }
      while let signal = signals.next() {
        guard ChildProcess.isHandedOn(signal) else { continue }
        ending = signal
        kill(child, signal)
      }
      var status: Int32 = 0
      guard unsafe waitpid(child, &status, WNOHANG) == child else { continue }
      guard status == 0 || ending != nil else { throw Failure(.cancelled, "edit: the editor failed; nothing has been changed") }
      return ending
    }
  }

  /// Through the shell, because the variable may hold options.
  private static func start(_ editor: String, _ path: String, mask: sigset_t) throws -> pid_t {
    try ChildProcess.start(["/bin/sh", "-c", "\(editor) \"$@\"", editor, path], mask: mask)
  }
}
