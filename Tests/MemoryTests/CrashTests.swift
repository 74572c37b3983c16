import Foundation
import Testing

/// Whatever ends `coffer`, it dies silently: no backtrace, no core, although both were asked for.
@Suite(.serialized) struct CrashTests {
  /// Until the descriptor's content has been taken, in small steps.
  private static func waitUntilRead(_ pipe: Pipe) {
    var left: Int32 = 1
    for _ in 0..<40_000 where left > 0 {
      _ = unsafe ioctl(pipe.fileHandleForWriting.fileDescriptor, UInt(FIONREAD), &left)
      if left > 0 { usleep(50) }
    }
  }

  /// All cores that the system left here.
  private static func cores(_ place: Place) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.path).filter { $0.hasPrefix("core") }
  }

  private static func shell(_ place: Place, _ command: String) -> Process {
    // Test runners block signals, and children inherit that.
    let unblock = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execv(sys.argv[1], sys.argv[1:])"
    let script = "ulimit -c unlimited; cd '\(place.path)'; \(command)"
    let process = place.process("/usr/bin/env", ["python3", "-c", unblock, "/bin/sh", "-c", script])
    process.environment?["SWIFT_BACKTRACE"] = "enable=yes,color=no,registers=all,threads=all"
    return process
  }

  @Test(.timeLimit(.minutes(60)), arguments: [SIGSEGV, SIGILL, SIGABRT, SIGTRAP, SIGBUS])
  func crashSaysNothing(signal: Int32) throws {
    let place = try Place([.bytes("key-file", count: 64), .text("secret", count: 2000)])
    let opening = ["--vault", place.file("vault.coffer"), "--key-file", place.file("key-file")]
    let made = [
      try place.scan("coffer", ["vault", "init", "--no-passphrase"] + opening),
      try place.scan("coffer", ["secret", "set", "mail/ada"] + opening, descriptors: [0: "secret"]),
      // A way in that costs no time, so that the signal meets the rest of the work.
      try place.scan("coffer", ["vault", "slot", "add", "--new-recovery-key"] + opening, descriptors: [1: "recovery"]),
    ]
    #expect(made.allSatisfy { $0.ending == "exit 0" })
    var (crashed, rounds) = (0, 0)
    // How long it takes when nothing happens. On a busy machine the signal comes late: it is sent the sooner, the more often in turn it
    // came after the end.
    var (duration, missed) = (1.0, 0)
    while rounds < 3 || (crashed < 10 && rounds < 1000) {
      rounds += 1
      let process = Self.shell(
        place, "exec '\(Place.program("coffer"))' secret get mail/ada --vault vault.coffer --recovery-key-fd 0 >output 2>errors")
      let recovery = Pipe()
      process.standardInput = recovery
      try process.run()
      // Descriptor 0 is read by nobody before the program has begun for good.
      try recovery.fileHandleForWriting.write(contentsOf: Data(place.content("recovery")))
      Self.waitUntilRead(recovery)
      let start = Date()
      try recovery.fileHandleForWriting.close()
      if rounds > 3 {
        usleep(UInt32(Double.random(in: 0..<duration * 1e6 / Double(1 + missed))))
        kill(process.processIdentifier, signal)
        missed += 1
      }
      process.waitUntilExit()
      if rounds <= 3 {
        duration = min(duration, -start.timeIntervalSinceNow)
        #expect(try place.content("output") == place.content("secret"))
      } else if process.terminationReason == .uncaughtSignal {
        #expect(process.terminationStatus == signal)
        (crashed, missed) = (crashed + 1, 0)
      }
      #expect(try place.content("errors").isEmpty)
    }
    #expect(crashed == 10)
    #expect(try Self.cores(place).isEmpty)
    print("memory: \(crashed) crashes by signal \(signal) within \(Int(duration * 1000)) ms: nothing said, no core")
  }

  /// The agent with an open vault, and with a secret that it has just handed out.
  @Test(.timeLimit(.minutes(60)), arguments: [SIGSEGV, SIGILL, SIGABRT, SIGTRAP, SIGBUS, SIGFPE, SIGQUIT])
  func crashOfTheAgentSaysNothing(signal: Int32) throws {
    let place = try Place([.bytes("key-file", count: 64), .text("secret", count: 2000)])
    func coffer(_ command: String, _ descriptors: [Int32: String] = [:]) throws {
      #expect(try place.scan("coffer", command.components(separatedBy: " "), descriptors: descriptors).ending == "exit 0")
    }
    try coffer("vault init --no-passphrase --key-file \(place.file("key-file"))")
    let process = Self.shell(place, "exec '\(Place.program("cofferd"))' --ready-fd 1 2>errors")
    let ready = Pipe()
    process.standardOutput = ready
    try process.run()
    #expect(try ready.fileHandleForReading.read(upToCount: 6) == Data("ready\n".utf8))
    try coffer("vault unlock --key-file \(place.file("key-file"))")
    try coffer("secret set mail/ada", [0: "secret"])
    try coffer("secret get mail/ada", [1: "output"])
    #expect(try place.content("output") == place.content("secret"))
    let limits = try String(contentsOfFile: "/proc/\(process.processIdentifier)/limits", encoding: .utf8)
    let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
    #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(limits)")
    kill(process.processIdentifier, signal)
    // The runtime's handler, where it is in place, may never come to an end.
    for _ in 0..<6000 where process.isRunning { usleep(10_000) }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == signal)
    #expect(try place.content("errors").isEmpty)
    #expect(try Self.cores(place).isEmpty)
  }

  /// The control: what the runtime's backtrace and the system's core tell of a program that has not seen to it.
  @Test func crashOfTheNaiveProgramTellsAll() throws {
    let place = try Place([.text("secret", count: 64)])
    let process = Self.shell(place, "exec '\(Place.program("NaiveProbe"))' crash <secret >output 2>&1")
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal)
    #expect(try !place.scan(files: [place.file("output")]).hits.isEmpty, "the backtrace shows what registers point to")
    let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
    guard pattern.hasPrefix("core") else { return print("memory: not looked for in a core: the kernel pipes it to \(pattern)") }
    let core = try #require(try Self.cores(place).first)
    #expect(try place.scan(files: [place.file(core)]).hits.count > 0)
  }
}
