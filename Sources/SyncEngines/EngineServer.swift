import CofferFiles
import Glibc
package import VaultCore

/// The other end of `ssh`: calls of one engine from standard input, answers to standard output.
package enum EngineServer {
  /// A call to wait is answered after so long.
  private static let waitMilliseconds = 60_000

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
        case .wait(let number):
          try wait(for: number, in: engine)
          answer = .done
        case .names(let last): answer = .names(try engine.names(after: last))
        case .delete(let names):
          try engine.delete(names)
          answer = .done
        case .deleteEntries(let ranges):
          try engine.deleteEntries(ranges)
          answer = .done
        case nil: answer = .failed("another form of call")
        }
      } catch {
        answer = .failed(words(error))
      }
      try pipes.send(answer.bytes)
    }
  }

  /// Until the entry is there, or the other end has something else to ask, or has gone.
  private static func wait(for number: UInt64, in engine: DirectoryEngine) throws(FileError) {
    let end = Deadline(milliseconds: waitMilliseconds)
    let sign = engine.beginWaiting(for: number)
    while try !engine.mayHave(number), !end.hasPassed {
      var entries = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: sign.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      unsafe poll(&entries, 2, sign.milliseconds)
      if entries[0].revents != 0 { return }
      engine.clearSign()
    }
  }

  private static func words(_ error: FileError) -> String { "\(error.code.name): \(error.detail)" }
}
