import CofferFiles
import CofferTesting
import FakePinentry
import Foundation
import Glibc
import SecretMemory
import Testing

@testable import Pinentry

/// Each terminal shows its own output, even while others are closed: their numbers are reused at once.
@Suite struct TerminalTests {
  @Test func aTerminalLosesNothingToOneThatHasEnded() throws {
    for round in 0..<2000 {
      do { try Terminal().show("gone") }
      let next = try Terminal()
      next.show("\(round) is shown")
      try next.wait(for: "\(round) is shown")
    }
  }
}

/// Debian's pinentries.
@Suite(.timeLimit(.minutes(60))) struct RealPinentryTests {
  let terminal: Terminal

  init() throws { terminal = try Terminal() }

  private func pinentry(_ name: String) throws -> Pinentry {
    let program = try PinentryProgram { $0 == "COFFER_PINENTRY" ? "/usr/bin/\(name)" : nil }
    let display = Display(environment: { ["TERM": "xterm", "LC_CTYPE": "C.UTF-8"][$0] }, terminal: terminal.name)
    return try Pinentry(program, at: display.owned(by: geteuid()))
  }

  @Test(arguments: ["pinentry-curses", "pinentry-tty"]) func aPassphrase(_ name: String) throws {
    // A full-screen program moves the cursor, so wait for a single word.
    terminal.type("p%ss\r", after: "Passphrase")
    let question = Pinentry.Question(description: "For the vault", prompt: "Passphrase:", error: "Wrong.")
    let typed = try pinentry(name).passphrase(question, seconds: 60)
    #expect(typed.copyIntoUnprotectedBytes() == Array("p%ss".utf8))
    #expect(terminal.output.contains("Wrong."))
    #expect(!terminal.output.contains("p%ss"))
  }

  @Test(arguments: ["pinentry-curses", "pinentry-tty"], ["yes\r", "longer\r", "ls -la\r", "\t\r", "\r"])
  func aWord(_ name: String, _ keys: String) throws {
    terminal.type(keys, after: "Answer:")
    var question = PinentryTests.question
    question.prompt = "Answer:"
    let expected: [String: Pinentry.Choice] = ["yes\r": .first, "longer\r": .second]
    #expect(try pinentry(name).choose(question, PinentryTests.words, seconds: 60) == expected[keys] ?? .refused)
  }

  @Test(arguments: ["pinentry-curses", "pinentry-tty"]) func nobodyAnswers(_ name: String) throws {
    #expect(throws: PinentryError(.timedOut)) {
      _ = try pinentry(name).choose(PinentryTests.question, PinentryTests.words, seconds: 1)
    }
  }

  /// A pinentry that is ended during its question restores the terminal.
  @Test func aQuestionThatIsWithdrawnLeavesTheScreen() throws {
    var pair: [Int32] = [-1, -1]
    _ = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
    guard let ours = OwnedDescriptor(pair[0]), let theirs = OwnedDescriptor(pair[1]) else { throw POSIXError(.ENFILE) }
    let theirEnd = theirs.number
    // As a client that closes its connection.
    terminal.when("Refuse") { shutdown(theirEnd, Int32(SHUT_RDWR)) }
    #expect(throws: PinentryError(.withdrawn)) {
      _ = try pinentry("pinentry-curses").choose(
        PinentryTests.question, PinentryTests.words, seconds: 600, withdrawal: ours.number)
    }
    // The sequence with which a full-screen program restores the screen.
    try terminal.wait(for: "\u{1B}[?1049l")
  }
}
