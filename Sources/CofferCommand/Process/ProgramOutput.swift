import CLinux
import CofferConsole
import CofferFiles
import Glibc

/// A program that is run for its output, without input, in the root directory: files of the directory of a project can name another program
/// that is run then, as `rust-toolchain.toml` does for cargo.
enum ProgramOutput {
  private static let limit = 1 << 20
  /// In milliseconds. A program that waits for a lock or a network holds no command for ever.
  private static let patience = 30_000

  struct Outcome {
    let status: Int32
    let output: [UInt8]
  }

  /// Its standard error is dropped: the lines would stand between those of this program.
  /// - Parameter patience: How long it may take, in milliseconds. Then it is ended, with its group.
  /// - Throws: not found, if the program is missing; other, if a signal has ended it, also that of this function.
  static func of(_ name: String, _ words: [String], patience: Int = Self.patience) throws -> Outcome {
    let deadline = Deadline(milliseconds: patience)
    let answer = try Pipe()
    let process = try start(name, words, answer)
    // The writing end is closed here, so that the end of the program is the end of its output.
    let source = answer.keepSource()
    let end = OwnedDescriptor(coffer_pidfd_open(process))
    let output = read(source.number, deadline)
    guard let output, let end, FilterProgram.isReady(end.number, deadline) else {
      kill(-process, SIGKILL)
      _ = ChildProgram.wait(for: process)
      let seconds = counted(patience / 1000, "second")
      throw Failure(.other, "\(name): " + (deadline.hasPassed ? "has not ended within \(seconds)" : "its output is not read"))
    }
    guard let status = ChildProgram.wait(for: process), status & 0x7F == 0 else {
      throw Failure(.other, "\(name): has not ended by itself")
    }
    return Outcome(status: (status >> 8) & 0xFF, output: output)
  }

  private static func start(_ name: String, _ words: [String], _ answer: borrowing Pipe) throws -> pid_t {
    guard let root = OwnedDescriptor(unsafe open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else {
      throw SystemError.last.failure("/")
    }
    var program = ChildProgram(name, words)
    program.isSearched = true
    program.hasGroup = true
    program.directory = root.number
    program.streams = [.none, .descriptor(answer.target.number), .none]
    let child = program.start()
    guard child.errno == 0 else { throw SystemError(number: child.errno).failure(name) }
    return child.process
  }

  /// Returns nil if the output has not ended in time, or is too long.
  private static func read(_ number: Int32, _ deadline: Deadline) -> [UInt8]? {
    var output: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 12)
    while output.count <= limit, FilterProgram.isReady(number, deadline) {
      let count = unsafe part.withUnsafeMutableBytes { bytes in
        retrying { unsafe Glibc.read(number, bytes.baseAddress, bytes.count) }.result
      }
      guard count > 0 else { return count == 0 ? output : nil }
      output += part[..<count]
    }
    return nil
  }
}
