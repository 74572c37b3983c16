import CofferFiles
import Glibc
import Synchronization

/// The result of a command without a terminal.
struct Outcome {
  var output: String
  var errors: String
  /// Nil if it had to be killed.
  var status: Int32?
  var milliseconds: Double
  var processorTime: Double
}

extension Child {
  static let spawning = Mutex(())

  /// Runs a command to its end with pipes for its three descriptors.
  static func run(_ command: String, in directory: String, environment: [String], input: [UInt8], limit: Int) throws -> Outcome {
    let start = ContinuousClock.now
    // One at a time, so that no other child inherits an end before it is marked, and keeps the pipe open.
    let (child, inputStart, outputEnd, errorEnd) = try spawning.withLock { _ in
      let (inputEnd, inputStart) = try pipe()
      let (outputEnd, outputStart) = try pipe()
      let (errorEnd, errorStart) = try pipe()
      let child = try Child(command, in: directory, environment: environment, descriptors: [inputEnd, outputStart, errorStart])
      for descriptor in [inputEnd, outputStart, errorStart] { close(descriptor) }
      return (child, inputStart, outputEnd, errorEnd)
    }
    // Fits into the pipe: transcripts hold short lines.
    _ = unsafe Glibc.write(inputStart, input, input.count)
    close(inputStart)
    let deadline = Deadline(milliseconds: limit)
    var collected: [[UInt8]] = [[], []]
    var open = [outputEnd, errorEnd]
    while open.contains(where: { $0 >= 0 }), !deadline.hasPassed {
      var entries = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      _ = unsafe poll(&entries, 2, min(deadline.left, 100))
      for index in 0..<2 where entries[index].revents != 0 {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = unsafe Glibc.read(open[index], &buffer, buffer.count)
        if count > 0 { collected[index] += buffer[..<count] } else { open[index] = -1 }
      }
    }
    let status = child.wait(until: deadline)
    close(outputEnd)
    close(errorEnd)
    let taken = start.duration(to: .now)
    return Outcome(
      output: String(decoding: collected[0], as: UTF8.self), errors: String(decoding: collected[1], as: UTF8.self),
      status: status,
      milliseconds: Double(taken.components.seconds) * 1e3 + Double(taken.components.attoseconds) / 1e15,
      processorTime: child.processorTime)
  }

  private static func pipe() throws -> (end: Int32, start: Int32) {
    var both: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&both) == 0 else { throw Failed(what: "pipe") }
    for descriptor in both { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return (both[0], both[1])
  }
}
