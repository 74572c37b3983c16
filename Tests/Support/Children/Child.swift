import CofferFiles
import Glibc

/// A child process with pipes to its standard input and from its standard output. Killed and reaped when this object is
/// deallocated.
package final class Child {
  package let identifier: Int32
  private var input: Int32
  private let output: Int32
  private var buffer: [UInt8] = []
  private var isReaped = false

  /// - Parameter environment: Variables besides those of the tests, `NAME=value`.
  package init(_ command: [String], environment: [String] = []) {
    var outputs: [Int32] = [0, 0]
    var inputs: [Int32] = [0, 0]
    precondition(unsafe pipe(&outputs) == 0 && pipe(&inputs) == 0)
    // No other child that tests start at the same time may keep these pipes open.
    for end in outputs + inputs { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let words = environment.isEmpty ? command : ["/usr/bin/env"] + environment + command
    var program = ChildProgram(words[0], Array(words.dropFirst()))
    program.isSearched = true
    program.closesOthers = false
    program.streams = [.descriptor(inputs[0]), .descriptor(outputs[1])]
    // The threads of tests may block signals; a child starts as from a shell.
    program.blocked = ChildProgram.noSignals
    let started = program.start()
    precondition(started.errno == 0, "\(words[0]): \(started.errno)")
    close(outputs[1])
    close(inputs[0])
    identifier = started.process
    input = inputs[1]
    output = outputs[0]
  }

  deinit {
    finishInput()
    if !isReaped {
      kill(identifier, SIGCONT)
      kill(identifier, SIGKILL)
      wait()
    }
    close(output)
  }

  package func signal(_ number: Int32) { kill(identifier, number) }

  package func finishInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  package func send(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(input, $0.baseAddress, $0.count) }
  }

  /// Sends a command and waits for its answer.
  package func ask(_ line: String) -> String {
    send(line)
    return self.line() ?? "died"
  }

  /// One line without its end. nil at the end of the output, or after the time limit.
  package func line(within milliseconds: Int32 = 300_000) -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer.removeFirst(end + 1) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&entry, 1, milliseconds) > 0 else { return nil }
      var part = [UInt8](repeating: 0, count: 1 << 16)
      let count = unsafe part.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
      // An incomplete line of a killed process is not an acknowledgement.
      guard count > 0 else { return nil }
      buffer += part[..<count]
    }
  }

  package func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  /// The status of waitpid(2).
  @discardableResult package func wait() -> Int32 {
    isReaped = true
    return ChildProgram.wait(for: identifier) ?? 0
  }
}

/// Runs a command to its end and returns the lines of its output.
@discardableResult package func run(_ command: String...) -> [String] { run(command) }

@discardableResult package func run(_ command: [String]) -> [String] {
  let child = Child(command)
  child.finishInput()
  let lines = child.lines()
  child.wait()
  return lines
}

/// The path of a program of this build.
package func program(_ name: String) -> String {
  var buffer = [UInt8](repeating: 0, count: 4096)
  let count = unsafe buffer.withUnsafeMutableBytes {
    unsafe readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
  }
  let path = String(decoding: buffer[..<count], as: UTF8.self)
  return Path.join(Path.parent(of: path), name)
}
