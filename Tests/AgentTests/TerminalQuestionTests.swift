import CofferFiles
import FakePinentry
import Foundation
import SystemBench
import Testing

@testable import CofferAgent

/// A question at a terminal where a shell runs: what is typed there is for the program in the foreground.
@Suite(.serialized, .timeLimit(.minutes(60))) final class TerminalQuestionTests {
  private let terminal: Terminal
  private let bench: DaemonBench
  private let shell: pid_t
  private let command = AgentBench.program("coffer").path

  init() throws {
    terminal = try Terminal()
    bench = try DaemonBench(limits: "export TERM=xterm COFFER_PINENTRY=/usr/bin/pinentry-curses; exec <\(terminal.name)")
    try bench.unlock()
    try #require(bench.coffer(["secret", "set", "asks/ada", "--confirm", "0"], input: "s3cret").status == 0)
    let shell = bench.command(
      "/usr/bin/setsid", ["--ctty", "--wait", "/bin/bash", "--norc", "--noprofile", "-i"])
    let place = FileHandle(fileDescriptor: terminal.slave.number)
    (shell.standardInput, shell.standardOutput, shell.standardError) = (place, place, place)
    shell.environment?["TERM"] = "xterm"
    shell.environment?["PS1"] = "shell-$$> "
    try shell.run()
    try terminal.wait(for: "> ")
    let digits = terminal.output.components(separatedBy: "shell-").last?.prefix { $0.isNumber }
    self.shell = try #require(digits.flatMap { pid_t($0) })
    // A test types this word, and the program of that name writes for ever.
    terminal.type("yes() { :; }\r")
  }

  /// A terminal ends when no process has it open. Programs of the shell would not get its SIGHUP, because the children of a test have it
  /// blocked.
  deinit {
    let foreground = tcgetpgrp(terminal.slave.number)
    if foreground > 1 { kill(-foreground, SIGKILL) }
    kill(shell, SIGKILL)
  }

  /// Has the shell run something; says "ended" and the status at its end.
  private func run(_ words: String, then keys: String = "") { terminal.type("\(words); echo end''ed $?.\r\(keys)") }

  /// Another process asks while the shell waits for its next command.
  @Test(arguments: ["ls -la\r", "\t\r", "yes\r"]) func keysForTheShellAnswerNoQuestion(_ keys: String) throws {
    let asking = bench.command(command, ["secret", "get", "asks/ada"])
    let output = Pipe()
    asking.standardOutput = output
    try asking.run()
    while asking.isRunning {
      terminal.type(keys)
      usleep(200_000)
    }
    #expect(asking.terminationStatus == 5)
    #expect(try output.fileHandleForReading.readToEnd() ?? Data() == Data())
    #expect(!terminal.output.contains("Answer:"))
  }

  @Test func aJobInTheBackgroundAsksNobody() throws {
    run("\(command) secret get asks/ada & wait $!")
    try terminal.wait(for: "ended 5.")
    #expect(!terminal.output.contains("Answer:") && !terminal.output.contains("s3cret"))
    #expect(terminal.output.contains("not in the foreground of the terminal"))
  }

  @Test(arguments: [("yes\r", 0), ("ls -la\r", 6), ("\t\r", 6), ("\r", 6)])
  func theProgramInTheForegroundAsks(_ keys: String, _ status: Int) throws {
    run("\(command) secret get asks/ada")
    try terminal.wait(for: "Answer:")
    // Words alone: a terminal that draws moves its cursor.
    for word in ["vault.coffer", "command", "group", "refuses."] { try terminal.wait(for: word) }
    terminal.type(keys)
    try terminal.wait(for: "ended \(status).")
    #expect(terminal.output.contains("s3cret") == (status == 0))
  }

  /// Typed before there is a question.
  @Test func typeAheadIsNoAnswer() throws {
    run("\(command) secret get asks/ada", then: "yes\r")
    try terminal.wait(for: "Answer:")
    terminal.type("no\r")
    try terminal.wait(for: "ended 6.")
    #expect(!terminal.output.contains("s3cret"))
  }

  /// A program that is stopped leaves the foreground to the shell.
  @Test func aQuestionEndsWhenTheProgramLeavesTheForeground() throws {
    terminal.type("sh -c 'echo pro''cess $$.; exec \(command) secret get asks/ada'\r")
    try terminal.wait(for: "Answer:")
    let digits = try #require(terminal.output.components(separatedBy: "process ").dropFirst().first?.prefix { $0.isNumber })
    let process = try #require(Int32(digits))
    try #require(kill(process, SIGSTOP) == 0)
    // The sequence with which a program of the whole screen says goodbye.
    try terminal.wait(for: "\u{1B}[?1049l")
    run("fg")
    try terminal.wait(for: "ended 6.")
    #expect(!terminal.output.contains("s3cret"))
  }
}

@Suite struct ForegroundTests {
  @Test func theForegroundIsReadFromTheKernelsLine() {
    func isInForeground(_ text: String, _ device: UInt64 = 34817) -> Bool { Peer.isInForeground(text, of: device) }
    #expect(isInForeground("7 (a) R 1 50 40 34817 50 4194304 0"))
    #expect(isInForeground("7 (a) S 1 99 9 1 9 (b) R 1 50 40 34817 50 4194304 0"))
    // Another group, another terminal, none, and less than a line.
    #expect(!isInForeground("7 (a) R 1 51 40 34817 50 4194304 0"))
    #expect(!isInForeground("7 (a) R 1 50 40 34816 50 4194304 0"))
    #expect(!isInForeground("7 (a) R 1 50 40 0 -1 4194304 0"))
    #expect(!isInForeground("7 (a) R 1 0 0 34817 0 4194304 0"))
    #expect(!isInForeground("7 (a) R 1 50 40 34817") && !isInForeground("7 (a"))
  }
}
