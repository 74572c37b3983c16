import CLinux
import CofferConsole
import CofferFiles
import Glibc
import SecretMemory

/// A program that reads a text and writes another one, through pipes.
struct FilterProgram {
  /// The longest input. A pipe takes it at once, so that a program that reads nothing delays nothing.
  static let longestInput = 1 << 16
  /// How long it may take, in milliseconds.
  private static let patience = 10_000

  private let words: [String]
  /// nil: as in this process.
  var environment: [String]?
  /// Whether a person uses it at this terminal. Then it has the time that the person takes.
  var isForPerson = false

  struct Outcome: ~Copyable {
    let output: Secret
    /// As waitpid(2) has it; nil if it was killed because it did not end.
    let status: Int32?
  }

  init(_ words: [String]) { self.words = words }

  /// Whether a program of this name would be found.
  static func isThere(_ name: String) -> Bool {
    (Environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").contains { unsafe access("\($0)/\(name)", X_OK) == 0 }
  }

  /// - Parameter limit: The longest output; of a longer one the beginning is returned. 0: it gets no standard output.
  /// - Throws: not found or I/O, if it cannot be started; as `Secret(count:)`.
  func run(_ input: borrowing Secret, limit: Int = 0) throws -> Outcome {
    precondition(input.count <= Self.longestInput)
    return try run(limit: limit) { target in try input.withBytes { try target.write($0) } }
  }

  /// As above.
  /// - Parameter write: Writes the input. One that is longer than `longestInput` waits until the program has read.
  func run(limit: Int, writing write: (Descriptor) throws -> Void) throws -> Outcome {
    let deadline = isForPerson ? nil : Deadline(milliseconds: Self.patience)
    var output = try Secret(count: limit)
    let question = try Pipe()
    let answer = try Pipe()
    let process = try start(question, answer, isAnswered: limit > 0)
    let source = answer.keepSource()
    let target = question.keepTarget()
    // A program that does not read its input decides by its exit status whether it has failed.
    try? write(Descriptor(number: target.number, name: words[0]))
    Self.close(target)
    var count = 0
    while count < limit, Self.isReady(source.number, deadline) {
      let got = try output.withMutableBytes { span in
        try unsafe span.withUnsafeMutableBytes { bytes in
          try unsafe Descriptor(number: source.number, name: words[0]).read(into: .init(rebasing: bytes[count...]))
        }
      }
      guard got > 0 else { break }
      count += got
    }
    output.truncate(to: count)
    return Outcome(output: output, status: Self.status(of: process, deadline))
  }

  /// In a session of its own: one that leaves a process behind, to serve a clipboard, is not ended with the terminal.
  private func start(_ question: borrowing Pipe, _ answer: borrowing Pipe, isAnswered: Bool) throws -> pid_t {
    var program = ChildProgram(words[0], Array(words.dropFirst()))
    program.isSearched = true
    program.environment = environment
    program.streams = [
      .descriptor(question.source.number), isAnswered ? .descriptor(answer.target.number) : .none, isForPerson ? .same : .none,
    ]
    program.hasSession = !isForPerson
    program.blocked = ChildProgram.noSignals
    program.defaults = ChildProgram.allSignals
    let started = program.start()
    guard started.errno == 0 else { throw SystemError(number: started.errno).failure(words[0]) }
    return started.process
  }

  /// Waits until a descriptor can be read, or the program of a pidfd has ended. Returns false if that is not so at the deadline.
  static func isReady(_ descriptor: Int32, _ deadline: Deadline?) -> Bool {
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let result = unsafe poll(&entry, 1, deadline?.left ?? -1)
      if result >= 0 { return result > 0 }
      guard errno == EINTR else { return false }
    }
  }

  private static func status(of process: pid_t, _ deadline: Deadline?) -> Int32? {
    guard let end = OwnedDescriptor(coffer_pidfd_open(process)), !isReady(end.number, deadline) else {
      return ChildProgram.wait(for: process)
    }
    kill(process, SIGKILL)
    _ = ChildProgram.wait(for: process)
    return nil
  }

  private static func close(_ descriptor: consuming OwnedDescriptor) {}
}

/// Both ends of a pipe(7), closed on exec.
struct Pipe: ~Copyable {
  let source: OwnedDescriptor
  let target: OwnedDescriptor

  /// - Throws: I/O: no descriptor is left.
  init() throws {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0, let source = OwnedDescriptor(ends[0]), let target = OwnedDescriptor(ends[1]) else {
      throw SystemError.last.failure("pipe")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.source = source
    self.target = target
  }

  consuming func keepSource() -> OwnedDescriptor { source }
  consuming func keepTarget() -> OwnedDescriptor { target }
}

extension Secret {
  /// As text, for an answer that is no secret.
  var text: String { withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } } }
}
