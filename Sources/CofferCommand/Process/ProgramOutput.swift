import CofferConsole
import CofferFiles
import Glibc

/// A program that is run for its output, without input, in the root directory: files of the directory of a project can name another program
/// that is run then, as `rust-toolchain.toml` does for cargo.
enum ProgramOutput {
  private static let limit = 1 << 20

  /// - Throws: not found, if the program is missing; other, if a signal has ended it.
  static func of(_ name: String, _ words: [String]) throws -> (status: Int32, output: [UInt8]) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw SystemError.last.failure(name) }
    let output = Descriptor(number: ends[0], name: name)
    defer { output.close() }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var program = ChildProgram(name, words)
    program.isSearched = true
    guard let root = OwnedDescriptor(unsafe open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else {
      throw SystemError.last.failure("/")
    }
    program.directory = root.number
    program.streams = [.none, .descriptor(ends[1]), .same]
    let child = program.start()
    close(ends[1])
    guard child.errno == 0 else { throw SystemError(number: child.errno).failure(name) }
    let bytes = try output.contents(limit: limit)
    guard let status = ChildProgram.wait(for: child.process), status & 0x7F == 0 else {
      throw Failure(.other, "\(name): has not ended by itself")
    }
    return ((status >> 8) & 0xFF, bytes)
  }
}
