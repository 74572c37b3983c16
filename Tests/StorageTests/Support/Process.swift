import Glibc
import Testing

/// A child process, its standard output read through a pipe. Killed and reaped when the test lets go of it.
final class Child {
  let identifier: pid_t
  private let output: Int32
  private var isReaped = false

  init(_ command: [String]) {
    var ends: [Int32] = [0, 0]
    precondition(unsafe pipe(&ends) == 0)
    // Neither this child nor those that other tests start at the same time may keep the pipes of others open.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe command.map { unsafe strdup($0) } + [nil]
    var pid: pid_t = 0
    let result = unsafe posix_spawnp(&pid, command[0], &actions, nil, &arguments, environ)
    precondition(result == 0, "\(command[0]): \(result)")
    for index in unsafe arguments.indices { unsafe free(arguments[index]) }
    unsafe posix_spawn_file_actions_destroy(&actions)
    close(ends[1])
    identifier = pid
    output = ends[0]
  }

  deinit {
    if !isReaped {
      kill(identifier, SIGCONT)
      kill(identifier, SIGKILL)
      _ = wait()
    }
    close(output)
  }

  func signal(_ number: Int32) { kill(identifier, number) }

  /// One line, without its end. Nil at the end of the output.
  func line() -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while unsafe read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  func wait() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(identifier, &status, 0) == -1 && errno == EINTR {}
    isReaped = true
    return status
  }
}

/// Runs a command to its end: the lines that it printed.
@discardableResult
func run(_ command: String...) -> [String] {
  let child = Child(command)
  let lines = child.lines()
  _ = child.wait()
  return lines
}

/// A shell in a mount namespace of its own: what it mounts nobody else sees.
func runInMountNamespace(_ script: String) -> [String] {
  // A process that is not root becomes root in a user namespace.
  run("unshare", geteuid() == 0 ? "-m" : "-rm", "sh", "-c", script)
}

/// For tests that act as two users, or make devices: nobody else may.
let isSuperuser: ConditionTrait = .enabled(if: geteuid() == 0, "only the superuser can act as another user")

/// The test-support program, built beside the tests.
let probe: String = {
  var buffer = [UInt8](repeating: 0, count: 4096)
  let count = unsafe buffer.withUnsafeMutableBytes {
    unsafe readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
  }
  let path = buffer[..<count]
  return String(decoding: path[...path.lastIndex(of: UInt8(ascii: "/"))!], as: UTF8.self) + "StorageProbe"
}()
