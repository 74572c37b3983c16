import Glibc
import Testing

/// A child process with pipes to its standard input and from its standard output. Killed and reaped when this object is
/// deallocated.
final class Child {
  let identifier: pid_t
  private var input: Int32
  private let output: Int32
  private var buffer: [UInt8] = []
  private var isReaped = false

  init(_ command: [String], environment: [String] = []) {
    var outputs: [Int32] = [0, 0]
    var inputs: [Int32] = [0, 0]
    precondition(unsafe pipe(&outputs) == 0 && pipe(&inputs) == 0)
    // No other child that tests start at the same time may keep these pipes open.
    for end in outputs + inputs { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_adddup2(&actions, inputs[0], 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, outputs[1], 1)
    // The threads of tests may block signals; a child starts as from a shell.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let words = environment.isEmpty ? command : ["/usr/bin/env"] + environment + command
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    var pid: pid_t = 0
    let result = unsafe posix_spawnp(&pid, words[0], &actions, &attributes, &arguments, environ)
    precondition(result == 0, "\(words[0]): \(result)")
    for index in unsafe arguments.indices { unsafe free(arguments[index]) }
    unsafe posix_spawn_file_actions_destroy(&actions)
    unsafe posix_spawnattr_destroy(&attributes)
    close(outputs[1])
    close(inputs[0])
    identifier = pid
    input = inputs[1]
    output = outputs[0]
  }

  deinit {
    finishInput()
    if !isReaped {
      kill(identifier, SIGCONT)
      kill(identifier, SIGKILL)
      _ = wait()
    }
    close(output)
  }

  func signal(_ number: Int32) { kill(identifier, number) }

  func finishInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  func send(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(input, $0.baseAddress, $0.count) }
  }

  /// Sends a command and waits for its answer.
  func ask(_ line: String) -> String {
    send(line)
    return self.line() ?? "died"
  }

  /// One line without its end. nil at the end of the output, or after the time limit.
  func line(within milliseconds: Int32 = 300_000) -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer.removeFirst(end + 1) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&entry, 1, milliseconds) > 0 else { return nil }
      var part = [UInt8](repeating: 0, count: 1 << 16)
      let count = unsafe part.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
      // An incomplete line of a killed process is not an acknowledgement.
      guard count > 0 else { return nil }
      buffer += part[..<count]
    }
  }

  func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  /// The status of waitpid(2).
  @discardableResult func wait() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(identifier, &status, 0) == -1 && errno == EINTR {}
    isReaped = true
    return status
  }
}

/// Runs a command to its end and returns the lines of its output.
@discardableResult func run(_ command: String...) -> [String] { run(command) }

@discardableResult func run(_ command: [String]) -> [String] {
  let child = Child(command)
  child.finishInput()
  let lines = child.lines()
  child.wait()
  return lines
}

/// For tests that mount file systems or act as two users, which only root may do.
let isSuperuser: ConditionTrait = .enabled(if: geteuid() == 0, "only the superuser can mount and act as another user")

/// Whether the long forms run, which take minutes to hours, as in `make trust`.
let isLong = unsafe getenv("COFFER_TRUST") != nil

/// The path of a program of this build.
func program(_ name: String) -> String {
  var buffer = [UInt8](repeating: 0, count: 4096)
  let count = unsafe buffer.withUnsafeMutableBytes {
    unsafe readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
  }
  let path = buffer[..<count]
  return String(decoding: path[...path.lastIndex(of: UInt8(ascii: "/"))!], as: UTF8.self) + name
}
