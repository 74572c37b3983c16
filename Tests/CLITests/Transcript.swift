import Glibc

/// A file of commands with what they must print. README.md describes the format.
struct Transcript {
  struct Step {
    var line = 0
    var command = ""
    var isOnTerminal = false
    var input: [UInt8] = []
    var actions: [Action] = []
    var output: [String] = []
    var errors: [String] = []
    var status: Int32 = 0
    /// In milliseconds.
    var limit: Int?
  }

  enum Action {
    case expect([UInt8])
    case send([UInt8])
    case signal(Int32)
    case mode(String)
    case never([UInt8])
    /// Types the group of the recovery key that was asked for.
    case recall
  }

  struct Malformed: Error {
    let line: Int
    let text: String
  }

  private(set) var steps: [Step] = []

  init(_ text: String) throws {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      guard !line.isEmpty, !line.hasPrefix("#") else { continue }
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      let rest = parts.count == 2 ? String(parts[1]) : ""
      guard try take(String(parts[0]), rest, line: index + 1) else { throw Malformed(line: index + 1, text: String(line)) }
    }
  }

  private mutating func take(_ word: String, _ rest: String, line: Int) throws -> Bool {
    if word == "$" || word == "tty" {
      steps.append(Step(line: line, command: rest, isOnTerminal: word == "tty"))
      return true
    }
    guard !steps.isEmpty else { return false }
    let last = steps.count - 1
    switch word {
    case "<": steps[last].input += Self.bytes(rest, lineEnd: true)
    case ">": steps[last].output.append(rest)
    case "!": steps[last].errors.append(rest)
    case "expect": steps[last].actions.append(.expect(Self.bytes(rest, lineEnd: false)))
    case "send": steps[last].actions.append(.send(Self.bytes(rest, lineEnd: false)))
    case "recall": steps[last].actions.append(.recall)
    case "mode": steps[last].actions.append(.mode(rest))
    case "never": steps[last].actions.append(.never(Self.bytes(rest, lineEnd: false)))
    case "signal":
      guard let number = ["INT": SIGINT, "TERM": SIGTERM, "HUP": SIGHUP, "QUIT": SIGQUIT, "USR1": SIGUSR1][rest] else {
        return false
      }
      steps[last].actions.append(.signal(number))
    case "?":
      guard let status = Int32(rest) else { return false }
      steps[last].status = status
    case "within":
      guard let limit = Int(rest) else { return false }
      steps[last].limit = limit
    default: return false
    }
    return true
  }

  /// Resolves `\r`, `\n`, `\t`, `\\` and `\xNN`. A `\` at the end takes the line end away.
  private static func bytes(_ text: String, lineEnd: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case UInt8(ascii: "x"):
        bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
        rest = rest.dropFirst(2)
      case let other?: bytes.append(other)
      case nil: return bytes
      }
    }
    return lineEnd ? bytes + [0x0A] : bytes
  }
}
