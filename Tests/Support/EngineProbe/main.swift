import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import VaultCore

// A process that uses the engine in a directory:
//
//     EngineProbe DIRECTORY make
//     EngineProbe DIRECTORY append NAME COUNT [BYTES]   prints the number of each entry that is acknowledged, and its line
//     EngineProbe DIRECTORY put COUNT
//     EngineProbe DIRECTORY read
//
// An entry is a line, NAME INDEX TIMES, as often as it says. An error is printed as its code.

func say(_ text: String) {
  let line = Array("\(text)\n".utf8)
  guard unsafe write(STDOUT_FILENO, line, line.count) == line.count else { exit(3) }
}

let arguments = CommandLine.arguments
guard arguments.count > 2, let space = Identifier([UInt8](repeating: 7, count: 16)) else { exit(2) }

/// The first number that the log does not have. An entry without the one before it is a gap.
func end(_ engine: DirectoryEngine, from start: UInt64) throws -> UInt64 {
  var next = start
  while case let batch = try engine.read(from: next, limit: 500), !batch.isEmpty {
    for entry in batch {
      if entry.number != next { say("gap before \(entry.number)") }
      next = entry.number + 1
    }
  }
  return next
}

func append(_ engine: DirectoryEngine, _ name: String, _ count: Int, times: Int?) throws {
  var next: UInt64 = 0
  for index in 0..<count {
    let times = times ?? 1 + index * 37 % 2000
    let line = "\(name) \(index) \(times)"
    let entry = [UInt8]([[UInt8]](repeating: Array("\(line)\n".utf8), count: times).joined())
    repeat { next = try end(engine, from: next) } while try engine.append(next, entry) != .made
    say("\(next) \(line)")
  }
}

do {
  let engine = try DirectoryEngine(arguments[1], space: space, arguments[2] == "make" ? .new : .existing)
  switch arguments[2] {
  case "append": try append(engine, arguments[3], Int(arguments[4]) ?? .max, times: arguments.count > 5 ? Int(arguments[5]) : nil)
  case "put":
    for index in 0..<(Int(arguments[3]) ?? 0) {
      let object = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 1000 + index)
      try engine.put(ObjectName(of: object), object)
      say("\(index)")
    }
  case "read": say("\(try end(engine, from: 0))")
  default: break
  }
} catch let error as FileError {
  say(error.code.name)
  exit(1)
}
