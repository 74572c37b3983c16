internal import CLinux
internal import CofferFiles
internal import Glibc

/// The system's tar, which has read and written archives for longer than anything that could be written here.
///
/// It gets a list of arguments, never a line for a shell, an open directory to work in, and no variable but `PATH` and `LC_ALL`:
/// `TAR_OPTIONS` could make it run programs. Its standard error is returned as text.
enum Tar {
  private static let places = ["/usr/bin/tar", "/bin/tar"]

  /// The text on standard error, and whether the exit status was 0.
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
    var tar = ChildProgram(program, arguments)
    tar.environment = ["PATH=/usr/bin:/bin", "LC_ALL=C"]
    tar.directory = directory.number
    tar.streams = [.descriptor(input), .descriptor(output), .descriptor(messages.number)]
    let started = tar.start()
    guard started.errno == 0 else { throw FileError(errno: started.errno, program) }
    guard let status = ChildProgram.wait(for: started.process) else { throw FileError(errno: errno, program) }
    return Outcome(isSuccess: status == 0, message: String(decoding: try messages.contents(), as: UTF8.self))
  }
}
