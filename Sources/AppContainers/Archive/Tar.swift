internal import CLinux
internal import CofferFiles
internal import Glibc

/// The system's tar, which has read and written archives for longer than anything that could be written here.
///
/// It gets a list of arguments, never a line for a shell, an open directory to work in, and no variable but `PATH` and `LC_ALL`:
/// `TAR_OPTIONS` could make it run programs. What it says on standard error comes back as text.
enum Tar {
  private static let places = ["/usr/bin/tar", "/bin/tar"]

  /// What was said on standard error, and whether it ended well.
  struct Outcome {
    let isSuccess: Bool
    let message: String
  }

  /// - Throws: `toolMissing`; what the system says.
  static func run(_ arguments: [String], in directory: OpenDirectory, input: Int32, output: Int32) throws(FileError)
    -> Outcome
  {
    guard let program = places.first(where: { unsafe access($0, X_OK) == 0 }) else {
      throw FileError(.toolMissing, places[0])
    }
    let messages = try MemoryFile()
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe coffer_spawn_in_directory(&actions, directory.number)
    unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, messages.number, STDERR_FILENO)
    var words = unsafe cStrings([program] + arguments)
    var variables = unsafe cStrings(["PATH=/usr/bin:/bin", "LC_ALL=C"])
    defer {
      unsafe release(words)
      unsafe release(variables)
    }
    var process: pid_t = 0
    let started = unsafe posix_spawn(&process, program, &actions, nil, &words, &variables)
    guard started == 0 else { throw FileError(errno: started, program) }
    var status: Int32 = 0
    let child = process
    let waited = retrying { unsafe waitpid(child, &status, 0) }
    guard waited.result == process else { throw FileError(errno: waited.errno, program) }
    return Outcome(isSuccess: status == 0, message: String(decoding: try messages.contents(), as: UTF8.self))
  }

  private static func release(_ strings: [UnsafeMutablePointer<CChar>?]) {
    for index in unsafe strings.indices { unsafe free(strings[index]) }
  }

  /// With a nil at the end. To be released.
  private static func cStrings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
    for text in texts { unsafe pointers.append(strdup(text)) }
    unsafe pointers.append(nil)
    return unsafe pointers
  }
}

/// A file without a name, for what another program reads or writes from its beginning to its end.
final class MemoryFile: Sendable {
  private let file: OwnedDescriptor
  var number: Int32 { file.number }

  init() throws(FileError) {
    guard let file = OwnedDescriptor(coffer_memory_file()) else { throw FileError(errno: errno, "memfd_create") }
    self.file = file
  }

  convenience init(_ bytes: [UInt8]) throws(FileError) {
    try self.init()
    // The object that writes closes a descriptor of its own.
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw FileError(errno: errno, "a file in memory") }
    try OpenFile(copy, "a file in memory").write(bytes)
    lseek(number, 0, SEEK_SET)
  }

  /// The first 4 KiB.
  func contents() throws(FileError) -> [UInt8] {
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw FileError(errno: errno, "a file in memory") }
    let file = OpenFile(copy, "a file in memory")
    lseek(number, 0, SEEK_SET)
    return try file.read(upTo: 4096)
  }
}
