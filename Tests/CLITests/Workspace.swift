import CofferFiles
import Glibc
import Synchronization

/// A fresh directory with an empty home, in which the steps of one transcript run one after the other.
final class Workspace {
  /// After which a step hangs, in milliseconds.
  private static let limit = 300_000
  /// How often a step that must be fast is tried: other processes share the machine.
  private static let attempts = 8

  /// How many processes each processor has to run.
  private static var load: Double {
    var average = 0.0
    return unsafe getloadavg(&average, 1) == 1 ? average / Double(sysconf(Int32(_SC_NPROCESSORS_ONLN))) : 1
  }

  let path: String

  init() throws {
    var template = Array("/tmp/coffer-transcript-XXXXXX".utf8CString)
    guard unsafe template.withUnsafeMutableBufferPointer({ unsafe mkdtemp($0.baseAddress!) != nil }) else {
      throw Child.Failed(what: "mkdtemp")
    }
    path = unsafe template.withUnsafeBufferPointer { unsafe String(cString: $0.baseAddress!) }
    unsafe mkdir("\(path)/home", 0o700)
  }

  deinit {
    _ = try? Child.run("rm -rf '\(path)'", in: "/", environment: ["PATH=/usr/bin:/bin"], input: [], limit: Self.limit)
  }

  var environment: [String] {
    [
      "PATH=\(Self.programs):\(Self.examples):/usr/bin:/bin", "HOME=\(path)/home", "COFFER_HOME=\(path)/coffer", "W=\(path)",
      "TERM=xterm",
      "PS1=", "PS4=", "VECTORS=\(Self.vectors)",
    ]
  }

  private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
  private static let vectors = "\(root)/Tests/Vectors"
  /// Built by `make examples`.
  private static let examples = "\(root)/.build-examples/debug"

  /// Where the test itself lies, there is the program.
  private static let programs: String = {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe readlink("/proc/self/exe", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    let path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
  }()

  static func read(_ path: String) throws -> String {
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw Child.Failed(what: path) }
    defer { close(number) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe Glibc.read(number, &buffer, buffer.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }

  /// The mismatches.
  func run(_ step: Transcript.Step) throws -> [String] {
    var failures: [String] = []
    for attempt in 0..<Self.attempts {
      let outcome = try Child.run(step.command, in: path, environment: environment, input: step.input, limit: Self.limit)
      failures = []
      if outcome.status != step.status {
        failures.append("status \(outcome.status.map { "\($0)" } ?? "none: killed after a hang")")
      }
      if !Pattern.matches(outcome.output, step.output) { failures.append("stdout: \(outcome.output.prefix(2000))") }
      if !Pattern.matches(outcome.errors, step.errors) { failures.append("stderr: \(outcome.errors.prefix(2000))") }
      guard let limit = step.limit, outcome.milliseconds > Double(limit), failures.isEmpty else { return failures }
      // Where others take the processor, what the command took of it counts, as long as it has not waited for anything either.
      let isBusy = outcome.processorTime <= Double(limit) && outcome.milliseconds <= Double(20 * limit) * max(1, Self.load)
      if attempt + 1 == Self.attempts, isBusy { return [] }
      failures.append("took \(outcome.milliseconds) ms, \(outcome.processorTime) ms of the processor")
      usleep(UInt32(attempt) * 20_000)
    }
    return failures
  }

  /// A script without input, for tests that are no transcripts.
  func run(script: String) throws -> Outcome {
    try Child.run(script, in: path, environment: environment, input: [], limit: Self.limit)
  }

  func runOnTerminal(_ step: Transcript.Step) throws -> [String] {
    let terminal = try PseudoTerminal()
    let child = try Child.spawning.withLock { _ in
      try Child(step.command, in: path, environment: environment, terminal: terminal.path)
    }
    let deadline = Deadline(milliseconds: Self.limit)
    var failures: [String] = []
    var modes: [String] = []
    var hidden: [[UInt8]] = []
    var isUnread = false
    for action in step.actions {
      switch action {
      case .expect(let text):
        guard terminal.expect(text, until: deadline) else {
          failures.append("never said: \(String(decoding: text, as: UTF8.self))")
          break
        }
      case .send(let bytes): terminal.send(bytes)
      case .recall:
        guard let group = terminal.askedGroup(until: deadline) else {
          failures.append("never asked for a group of a recovery key")
          break
        }
        terminal.send(group + [0x0D])
      case .signal(let number):
        guard !isUnread || terminal.waitForInput(until: deadline) else {
          failures.append("what was typed before the signal never arrived")
          break
        }
        kill(child.process, number)
      case .mode(let text): modes.append(text)
      case .never(let text): hidden.append(text)
      }
      if case .send = action { isUnread = true } else { isUnread = false }
      guard failures.isEmpty else { break }
    }
    let status = failures.isEmpty ? child.wait(until: deadline, while: terminal.drain) : nil
    terminal.drain()
    if status != step.status { failures.append("status \(status.map { "\($0)" } ?? "none")") }
    for mode in modes where !terminal.has(mode) { failures.append("the terminal has not \(mode)") }
    for text in hidden where terminal.holds(text) { failures.append("has shown: \(String(decoding: text, as: UTF8.self))") }
    if !failures.isEmpty { failures.append("terminal: \(String(decoding: terminal.transcript, as: UTF8.self))") }
    return failures
  }
}

extension Child {
  /// A command that writes to a terminal must be read, or it never ends.
  func wait(until deadline: Deadline, while read: () -> Void) -> Int32? {
    while true {
      read()
      if let status = wait(until: Deadline(milliseconds: 20), killing: deadline.hasPassed) { return status }
      guard !deadline.hasPassed else { return nil }
    }
  }
}
