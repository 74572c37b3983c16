import CLinux
import Glibc

/// A process that has nothing of this one's but what it is given. Foundation's `Process` knows of an end by a descriptor, which a process that
/// another thread starts at that moment may keep open.
public final class Child: Sendable {
  public let process: Int32

  /// - Parameters:
  ///   - descriptors: Its standard input, output and errors. They stay open here.
  ///   - environment: `NAME=value`.
  init(_ command: [String], in directory: String, environment: [String], descriptors: [Int32]) throws {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let directory = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(directory) }
    unsafe coffer_spawn_in_directory(&actions, directory)
    for (number, descriptor) in descriptors.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    unsafe coffer_spawn_close_from(&actions, 3)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // A thread of a test may block signals that are to end it.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let words = unsafe command.map { (word) -> UnsafeMutablePointer<CChar>? in unsafe strdup(word) }
    let variables = unsafe environment.map { (variable) -> UnsafeMutablePointer<CChar>? in unsafe strdup(variable) }
    defer {
      for index in unsafe words.indices { unsafe free(words[index]) }
      for index in unsafe variables.indices { unsafe free(variables[index]) }
    }
    var child: pid_t = 0
    let result = unsafe posix_spawn(&child, command[0], &actions, &attributes, words + [nil], variables + [nil])
    guard result == 0 else { throw SystemBench.Failure(what: "\(command[0]): errno \(result)") }
    process = child
  }

  /// Its exit status; that of a signal, 128 and more.
  @discardableResult public func wait() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }

  public func end(by signal: Int32 = 9) {
    kill(process, signal)
    wait()
  }

  /// Everything until all who write have closed.
  static func text(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe recv(descriptor, &room, room.count, 0)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += room[..<count]
    }
  }

  /// Two ends of one, which no process that is started elsewhere inherits.
  static func pair() throws -> (here: Int32, there: Int32) {
    var ends: [Int32] = [0, 0]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw SystemBench.Failure(what: "socketpair: errno \(errno)")
    }
    return (ends[0], ends[1])
  }
}
