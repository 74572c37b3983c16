import CofferConsole
import CofferFiles
import Glibc

/// A program that is run for what it says, without input.
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
