import BenchmarkKit
import Glibc

/// One process, from posix_spawn to its end.
struct Command {
  private(set) var arguments: [String]
  var environment: [String]
  /// Standard input; nil for none.
  var input: String?
  /// Whether its notes are discarded. The status says whether it failed.
  var isQuiet = false

  init(_ arguments: [String], input: String? = nil, environment: [String] = Command.inherited) {
    self.arguments = arguments
    self.input = input
    self.environment = environment
  }

  static let inherited: [String] = {
    var all: [String] = []
    var next = environ
    while let entry = next.pointee {
      all.append(String(cString: entry))
      next += 1
    }
    return all
  }()

  /// The same with its output in a pipe: `coffer run` does not search what goes to /dev/null.
  var piped: Command {
    var command = self
    command.arguments = ["/bin/sh", "-c", "\"$@\" | cat", "sh"] + arguments
    return command
  }

  /// The memory and processor time of a process that has ended.
  struct Usage {
    /// By the process and by the kernel for it.
    let processorTime: Duration
    /// The most memory that it has had, in KiB, and no less than this process had when it started it.
    let peakMemory: Int

    fileprivate init(_ usage: rusage) {
      let (user, system) = (usage.ru_utime, usage.ru_stime)
      processorTime = .seconds(user.tv_sec + system.tv_sec) + .microseconds(user.tv_usec + system.tv_usec)
      peakMemory = usage.ru_maxrss
    }
  }

  /// Waits for the end of the process. Its output is discarded.
  @discardableResult func run() throws -> Usage {
    var pipeEnds: [Int32] = [-1, -1]
    if let input {
      guard pipe(&pipeEnds) == 0 else { throw BenchmarkError("pipe") }
      // Short enough for the pipe's buffer, so that writing does not block.
      _ = input.withCString { write(pipeEnds[1], $0, strlen($0)) }
      close(pipeEnds[1])
    }
    defer { if pipeEnds[0] >= 0 { close(pipeEnds[0]) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if pipeEnds[0] >= 0 {
      posix_spawn_file_actions_adddup2(&actions, pipeEnds[0], 0)
      posix_spawn_file_actions_addclose(&actions, pipeEnds[0])
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    if isQuiet { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }

    let argv = arguments.map { strdup($0) } + [nil]
    let envp = environment.map { strdup($0) } + [nil]
    defer { for text in argv + envp { free(text) } }
    var process = pid_t()
    let spawned = posix_spawnp(&process, arguments[0], &actions, nil, argv, envp)
    guard spawned == 0 else { throw BenchmarkError("\(arguments[0]): \(String(cString: strerror(spawned)))") }
    var status = Int32()
    var usage = rusage()
    guard wait4(process, &status, 0, &usage) == process else { throw BenchmarkError("wait4") }
    guard status == 0 else { throw BenchmarkError("\(arguments.joined(separator: " ")): status \(status)") }
    return Usage(usage)
  }

  /// The path of a program, or nil.
  static func find(_ name: String) -> String? {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }
}
