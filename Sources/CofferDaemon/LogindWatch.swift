import CofferFiles
import Glibc

/// `coffer-logind`, which locks the agent when the machine sleeps or the session is locked. Beside this program, or where
/// programs lie that nobody starts by hand; where it is not there, that is not done. It ends with the agent.
enum LogindWatch {
  static let name = "coffer-logind"

  /// - Parameter directory: With a slash at the end.
  /// - Returns: nil if the program was not installed.
  static func path(of name: String, beside directory: String) -> String? {
    let places: [String] = ["\(directory)\(name)", "\(directory)../libexec/coffer/\(name)"]
    return places.first { unsafe access($0, X_OK) == 0 }
  }

  /// Before there is a key in this process.
  static func start(beside directory: String, socket: String, user: UInt32) {
    guard let program = path(of: name, beside: directory) else { return }
    var child = ChildProgram(program, [socket, "\(user)"])
    // Nothing of this process is its: neither the socket nor the lock.
    child.streams = [.none, .none, .none]
    // The signals that this process waits for are blocked here, and are to end that one.
    child.blocked = ChildProgram.noSignals
    let (process, error) = child.start()
    guard error == 0 else { return }
    // It ends at once if there is no bus; no other thread waits for it.
    _ = DetachedThread.start("coffer-logind") { _ = ChildProgram.wait(for: process) }
  }
}
