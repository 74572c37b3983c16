import Children
import Glibc
import Testing

/// strace(1), attached to a process after it has started and opened its domain, so that only the system calls of the commands are
/// counted.
struct Tracer {
  /// The answers to the commands; "died" for the one at which the process ended, and none for those after it.
  var answers: [String] = []
  /// The system calls as strace prints them, with the paths of descriptors.
  var calls: [String] = []

  /// - Parameters:
  ///   - before: Commands that are not traced.
  ///   - then: Commands after the trace, which are not traced either.
  ///   - prepare: Called between the two.
  init(
    _ place: Place, before: [String], prepare: () -> Void = {}, _ commands: [String], then: [String] = [], options: [String] = []
  ) {
    let child = place.writer()
    for command in before { #expect(child.ask(command) == "ok", "\(command)") }
    prepare()
    let log = "\(place.root)/trace"
    let tracer = Child(["strace", "-f", "-ttt", "-qq", "-y", "-o", log] + options + ["-p", "\(child.identifier)"])
    var tries = 0
    while !Self.isTraced(child.identifier, by: tracer.identifier), tries < 300_000 {
      usleep(1000)
      tries += 1
    }
    for command in commands {
      answers.append(child.ask(command))
      if answers.last == "died" { break }
    }
    tracer.signal(SIGTERM)
    tracer.wait()
    if answers.last != "died" { answers += then.map(child.ask) }
    // Without the work at the end of a process.
    child.signal(SIGKILL)
    child.wait()
    calls = String(decoding: read(log) ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Whether strace has attached: it waits, and the process waits for a command. Between the calls with which strace attaches, the process
  /// still runs without it.
  private static func isTraced(_ process: pid_t, by tracer: pid_t) -> Bool {
    let status = lines("/proc/\(process)/status")
    return !status.contains("TracerPid:\t0") && status.contains("State:\tS (sleeping)")
      && lines("/proc/\(tracer)/wchan").first == "do_wait"
  }

  private static func lines(_ path: String) -> [String] {
    guard let file = unsafe fopen(path, "r") else { return [] }
    defer { unsafe fclose(file) }
    var lines: [String] = []
    var line = [CChar](repeating: 0, count: 256)
    while unsafe fgets(&line, 256, file) != nil {
      lines.append(String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    return lines
  }

  /// The number of each system call, except those on the test's own pipes.
  var counts: [String: Int] {
    var counts: [String: Int] = [:]
    for call in calls {
      let words = call.split(separator: " ", maxSplits: 2)
      guard words.count == 3, let end = words[2].firstIndex(of: "(") else { continue }
      let name = String(words[2][..<end])
      guard !["read", "write", "poll", "getrandom", "brk", "munmap", "madvise", "futex"].contains(name) else { continue }
      counts[name, default: 0] += 1
    }
    return counts
  }
}
