import Glibc

/// A command that runs in a session of its own, without a terminal or on a new one.
final class Child {
  struct Failed: Error {
    let what: String
  }

  private static let setSession: Int16 = 0x80

  let process: pid_t
  private var status: Int32?
  /// In milliseconds, with all its children; known at the end.
  private(set) var processorTime = 0.0

  /// - Parameters:
  ///   - descriptors: what becomes descriptor 0, 1 and 2.
  ///   - terminal: a terminal that becomes all three, and the controlling one, instead.
  init(_ command: String, in directory: String, environment: [String], descriptors: [Int32] = [], terminal: String? = nil) throws
  {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if let terminal {
      // The first terminal that the leader of a session opens is its controlling one.
      unsafe posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
      unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
      unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
    }
    for (target, descriptor) in descriptors.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    _ = unsafe sigemptyset(&none)
    _ = unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(&attributes, Self.setSession | Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    // Whatever the test runner has left open.
    let closing = "exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-"
    let words = unsafe ["/bin/sh", "-c", "\(closing)\ncd '\(directory)' || exit 99\n\(command)"].map {
      (word: String) -> UnsafeMutablePointer<CChar>? in unsafe strdup(word)
    }
    let variables = unsafe environment.map { (word: String) -> UnsafeMutablePointer<CChar>? in unsafe strdup(word) }
    let strings = unsafe words + variables
    defer { for index in unsafe strings.indices { unsafe free(strings[index]) } }
    var process: pid_t = 0
    let result = unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, words + [nil], variables + [nil])
    guard result == 0 else { throw Failed(what: "posix_spawn: \(result)") }
    self.process = process
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
      guard !deadline.isOver else {
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

struct Deadline {
  private let end: ContinuousClock.Instant

  init(milliseconds: Int) {
    end = .now + .milliseconds(milliseconds)
  }

  var isOver: Bool { .now >= end }

  /// For poll(2).
  var remaining: Int32 {
    let left = ContinuousClock.now.duration(to: end).components
    return Int32(max(0, left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000))
  }
}
