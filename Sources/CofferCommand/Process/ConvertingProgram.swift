import CofferConsole
import CofferFiles
import Glibc
import SecretMemory

/// A program that reads the format of a file. Its output comes through a pipe, straight into locked memory.
struct ConvertingProgram {
  /// The path at which the program finds the file, whatever its name means to the program.
  static let filePath = "/proc/self/fd/3"

  private let words: [String]
  /// The package of Debian that has it.
  private let package: String
  /// nil: as in this process.
  var environment: [String]?
  var input: ChildProgram.Stream = .none
  /// The file, open for reading.
  var file: Int32?

  struct Outcome<Output> {
    let output: Output
    /// The exit status; nil if it was killed.
    let status: Int32?
    /// The first 4 KiB of what it has said, or of what it has written to the descriptor for its state.
    let messages: String
  }

  init(_ words: [String], package: String) { (self.words, self.package) = (words, package) }

  /// - Parameters:
  ///   - messages: The descriptor on which it says what went wrong: 2, or one above that of the file.
  ///   - read: Reads what it writes, to the end.
  /// - Throws: other, if it is not there; what `read` throws, after the program has been ended.
  func run<Output>(messages number: Int = 2, _ read: (Descriptor) throws -> Output) throws -> Outcome<Output> {
    let messages = try MemoryFile()
    let answer = try Pipe()
    let process = try start(answer, messages, number)
    // The writing end is closed here, so that the end of the program is the end of its output.
    let source = answer.keepSource()
    let output: Output
    do {
      output = try read(Descriptor(number: source.number, name: words[0]))
    } catch {
      kill(process, SIGTERM)
      _ = ChildProgram.wait(for: process)
      throw error
    }
    guard let status = ChildProgram.wait(for: process) else { throw SystemError.last.failure(words[0]) }
    return Outcome(
      output: output, status: status & 0x7F == 0 ? (status >> 8) & 0xFF : nil,
      messages: String(decoding: try messages.contents(), as: UTF8.self))
  }

  private func start(_ answer: borrowing Pipe, _ messages: MemoryFile, _ number: Int) throws -> pid_t {
    var program = ChildProgram(words[0], Array(words.dropFirst()))
    program.isSearched = true
    program.environment = environment
    program.streams = [input, .descriptor(answer.target.number), .same, file.map { .descriptor($0) } ?? .none, .none]
    program.streams[number] = .descriptor(messages.number)
    program.blocked = ChildProgram.noSignals
    program.defaults = ChildProgram.signals([SIGPIPE, SIGXFSZ])
    let started = program.start()
    guard started.errno != ENOENT else {
      throw Failure(.other, "\(words[0]) is not installed, and reads this format", hint: "apt install \(package)")
    }
    guard started.errno == 0 else { throw SystemError(number: started.errno).failure(words[0]) }
    return started.process
  }
}
