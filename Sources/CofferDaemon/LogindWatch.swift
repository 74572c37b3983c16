import CLinux
import CofferFiles
import Glibc

/// `coffer-logind`, which locks the agent when the machine sleeps or the session is locked. Beside this program, or where programs lie that
/// nobody starts by hand; where it is not there, that is not done. It ends with the agent.
enum LogindWatch {
  static let name = "coffer-logind"

  /// Before there is a key in this process.
  static func start(beside directory: String, socket: String, user: UInt32) {
    let places: [String] = ["\(directory)\(name)", "\(directory)../libexec/coffer/\(name)"]
    guard let program = places.first(where: { unsafe access($0, X_OK) == 0 }) else { return }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
    }
    // Nothing of this process is its: neither the socket nor the lock.
    unsafe coffer_spawn_close_from(&actions, 3)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The signals that this process waits for are blocked here, and are to end that one.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let arguments: [String] = [program, socket, "\(user)"]
    let words = unsafe arguments.map { (word) -> UnsafeMutablePointer<CChar>? in unsafe strdup(word) }
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    var child: pid_t = 0
    guard unsafe posix_spawn(&child, program, &actions, &attributes, words + [nil], environ) == 0 else { return }
    let process = child
    // It ends at once where there is no bus; nobody else waits for it.
    _ = DetachedThread.start("coffer-logind") {
      var status: Int32 = 0
      while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
  }
}
