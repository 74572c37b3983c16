import CofferFiles
import Glibc

/// `coffer-logind`, which locks the agent when the machine sleeps or the session is locked. It is looked for beside this program and in
/// the libexec directory; if it is not there, the agent is not locked by them. It ends with the agent.
enum LogindWatch {
  static let name = "coffer-logind"

  /// Before there is a key in this process.
  static func start(at places: [String], socket: String, user: UInt32) {
    guard let program = places.first(where: { unsafe access($0, X_OK) == 0 }) else { return }
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
