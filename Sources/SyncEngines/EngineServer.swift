import CofferFiles
import Glibc
package import VaultCore

/// The other end of `ssh`: calls of one engine from standard input, answers to standard output.
package enum EngineServer {
  /// Returns when the input ends.
  /// - Throws: errors of the directory when it is opened, and those of the pipes.
  package static func serve(_ path: String, _ space: Identifier, _ purpose: EngineAddress.Purpose) throws {
    let pipes = FramePipes(input: STDIN_FILENO, output: STDOUT_FILENO)
    let engine: DirectoryEngine
    do {
      engine = try DirectoryEngine(path, space: space, purpose)
    } catch {
      return try pipes.send([EngineCall.version] + EngineAnswer.failed(words(error)).bytes)
    }
    try pipes.send([EngineCall.version] + EngineAnswer.done.bytes)
    while let bytes = try pipes.receive(isAnswer: false) {
      let answer: EngineAnswer
      do throws(FileError) {
        switch EngineCall(bytes) {
        case .append(let number, let entry): answer = .appended(try engine.append(number, entry))
        case .read(let number, let limit): answer = .entries(try engine.read(from: number, limit: limit))
        case .put(let name, let object):
          try engine.put(name, object)
          answer = .done
        case .get(let name): answer = .object(try engine.get(name))
        case nil: answer = .failed("another form of call")
        }
      } catch {
        answer = .failed(words(error))
      }
      try pipes.send(answer.bytes)
    }
  }

  private static func words(_ error: FileError) -> String { "\(error.code.name): \(error.detail)" }
}
