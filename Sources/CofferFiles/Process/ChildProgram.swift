package import CLinux
internal import Glibc

/// A program to be started by posix_spawn(3), and what it gets of this process.
package struct ChildProgram {
  /// The meaning of a descriptor in the new program.
  package enum Stream {
    /// The descriptor of the same number here.
    case same
    /// /dev/null.
    case none
    /// The file at a path, opened for reading and writing.
    case path(String)
    /// A descriptor of this process, or one of a lower number than its own that was set before.
    case descriptor(Int32)
  }

  private let path: String
  private let arguments: [String]
  /// Whether a name without a slash is looked for in `PATH`.
  package var isSearched = false
  /// `NAME=value`. nil: as in this process.
  package var environment: [String]?
  /// The descriptors from 0 on.
  package var streams: [Stream] = [.same, .same, .same]
  /// Whether it gets no others, even those that are not closed on exec.
  package var closesOthers = true
  /// An open directory for it to begin in.
  package var directory: Int32?
  /// Whether it gets a session of its own, so that keys typed at this terminal do not end it.
  package var hasSession = false
  /// Whether it gets a process group of its own.
  package var hasGroup = false
  /// The terminal in whose foreground its group is from the begin: a descriptor of the new program.
  package var foregroundTerminal: Int32?
  /// The signals that are blocked in it. nil: as in this thread.
  package var blocked: sigset_t?
  /// The signals that get their default action. Those that are ignored here are ignored there otherwise.
  package var defaults: sigset_t?

  package init(_ path: String, _ arguments: [String] = []) {
    self.path = path
    self.arguments = arguments
  }

  package static var noSignals: sigset_t { signals { unsafe sigemptyset(&$0) } }
  package static var allSignals: sigset_t { signals { unsafe sigfillset(&$0) } }
  package static func signals(_ numbers: [Int32]) -> sigset_t {
    signals { set in
      unsafe sigemptyset(&set)
      for number in numbers { unsafe sigaddset(&set, number) }
      return 0
    }
  }

  private static func signals(_ fill: (inout sigset_t) -> Int32) -> sigset_t {
    var set = sigset_t()
    _ = fill(&set)
    return set
  }

  /// - Returns: the process, and 0; or the errno.
  package func start() -> (process: Int32, errno: Int32) {
    unsafe CStrings.lend([path] + arguments) { words in
      unsafe CStrings.lend(environment ?? []) { variables in
        unsafe start(path, words, environment == nil ? environ : variables)
      }
    }
  }

  /// As `start`, with arguments and variables that are not text.
  package func start(
    _ file: UnsafePointer<CChar>, _ words: CStrings.Pointers, _ variables: CStrings.Pointers
  ) -> (process: Int32, errno: Int32) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if let directory { unsafe coffer_spawn_in_directory(&actions, directory) }
    for (number, stream) in streams.enumerated() {
      switch stream {
      case .same: break
      case .none: unsafe posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
      case .path(let path): unsafe posix_spawn_file_actions_addopen(&actions, Int32(number), path, O_RDWR, 0)
      case .descriptor(let here): unsafe posix_spawn_file_actions_adddup2(&actions, here, Int32(number))
      }
    }
    if closesOthers { unsafe coffer_spawn_close_from(&actions, Int32(streams.count)) }
    if let foregroundTerminal { unsafe coffer_spawn_in_foreground(&actions, foregroundTerminal) }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var flags: Int32 = hasSession ? 0x80 : 0  // POSIX_SPAWN_SETSID
    // To the group that has the number of the process, which is the initial value.
    if hasGroup { flags |= Int32(POSIX_SPAWN_SETPGROUP) }
    if var blocked {
      flags |= Int32(POSIX_SPAWN_SETSIGMASK)
      unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
    }
    if var defaults {
      flags |= Int32(POSIX_SPAWN_SETSIGDEF)
      unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    }
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    var process: Int32 = 0
    let number =
      unsafe isSearched
      ? posix_spawnp(&process, file, &actions, &attributes, words, variables)
      : posix_spawn(&process, file, &actions, &attributes, words, variables)
    return (process, number)
  }

  /// Waits until the process has ended.
  /// - Returns: its status, as waitpid(2) has it; nil if there is no such child.
  package static func wait(for process: Int32) -> Int32? {
    var status: Int32 = 0
    return retrying { unsafe waitpid(process, &status, 0) }.result == process ? status : nil
  }
}

/// Texts as the arrays of pointers that exec(3) takes.
package enum CStrings {
  package typealias Pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  /// - Parameter body: gets an array that ends with a null pointer, valid until it returns.
  package static func lend<Result>(_ texts: [String], _ body: (Pointers) -> Result) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
    for text in texts { unsafe pointers.append(strdup(text)) }
    unsafe pointers.append(nil)
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
  }
}
