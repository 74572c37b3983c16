import CofferTesting
import Foundation
import Glibc
import SystemCalls
import Testing
import VaultCore

@testable import Pinentry

/// A terminal, and a person who types.
final class Terminal: Sendable {
  private let master: Master
  private let slave: OwnedDescriptor
  let name: String

  /// What shows the screen and takes the keys, and what was shown. Every thread that uses it keeps it: a thread that had the bare number
  /// read, after the descriptor was closed, from the next terminal that got the number, and a test waited for what that one showed.
  private final class Master: @unchecked Sendable {
    let descriptor: OwnedDescriptor
    private let lock = NSLock()
    private var seen = ""

    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    func append(_ bytes: ArraySlice<UInt8>) { lock.withLock { seen += String(decoding: bytes, as: UTF8.self) } }
    var text: String { lock.withLock { seen } }
  }

  init() throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var name = [CChar](repeating: 0, count: 64)
    var size = winsize(ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
    guard unsafe openpty(&master, &slave, &name, nil, &size) == 0, let ours = OwnedDescriptor(master),
      let theirs = OwnedDescriptor(slave)
    else { throw POSIXError(.ENOTTY) }
    for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    self.master = Master(ours)
    self.slave = theirs
    self.name = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // Ends when nobody has the terminal open any more.
    Foundation.Thread.detachNewThread { [master = self.master] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = unsafe read(master.descriptor.number, &buffer, buffer.count)
        guard count > 0 else { break }
        master.append(buffer[..<count])
      }
    }
  }

  var output: String { master.text }

  /// As a program that has the terminal open does.
  func show(_ text: String) { unsafe _ = write(slave.number, text, text.utf8.count) }

  /// Types when a text has been shown.
  func type(_ keys: String, after text: String) {
    when(text) { master in unsafe _ = write(master.descriptor.number, keys, keys.utf8.count) }
  }

  /// Calls `body` when a text has been shown.
  func when(_ text: String, _ body: @escaping @Sendable () -> Void) { when(text) { _ in body() } }

  private func when(_ text: String, _ body: @escaping @Sendable (Master) -> Void) {
    Foundation.Thread.detachNewThread { [master] in
      if Self.isShown(text, master) { body(master) }
    }
  }

  /// Returns when a text has been shown.
  func wait(for text: String) { _ = Self.isShown(text, master) }

  /// Within five minutes; records what was waited for if not.
  private static func isShown(_ text: String, _ master: Master) -> Bool {
    let end = ContinuousClock.now + .seconds(300)
    while !master.text.contains(text) {
      guard ContinuousClock.now < end else {
        Issue.record(
          "the terminal has not shown \(text.debugDescription) within five minutes, but \(master.text.debugDescription)")
        return false
      }
      usleep(1000)
    }
    return true
  }
}

/// Each terminal shows what was written to it, also beside others that come and go: their numbers are used again at once.
@Suite struct TerminalTests {
  @Test func aTerminalLosesNothingToOneThatHasEnded() throws {
    for round in 0..<2000 {
      do { try Terminal().show("gone") }
      let next = try Terminal()
      next.show("\(round) is shown")
      next.wait(for: "\(round) is shown")
    }
  }
}

/// Debian's own.
@Suite(.timeLimit(.minutes(60))) struct RealPinentryTests {
  let terminal: Terminal

  init() throws { terminal = try Terminal() }

  private func pinentry(_ name: String) throws -> Pinentry {
    let program = try PinentryProgram { $0 == "COFFER_PINENTRY" ? "/usr/bin/\(name)" : nil }
    let seat = Seat(environment: { ["TERM": "xterm", "LC_CTYPE": "C.UTF-8"][$0] }, terminal: terminal.name)
    return try Pinentry(program, at: seat.owned(by: geteuid()))
  }

  @Test(arguments: ["pinentry-curses", "pinentry-tty"]) func aPassphrase(_ name: String) throws {
    // A terminal that draws moves its cursor, so a word is waited for.
    terminal.type("p%ss\r", after: "Passphrase")
    let question = Pinentry.Question(description: "For the vault", prompt: "Passphrase:", error: "Wrong.")
    let typed = try pinentry(name).passphrase(question, seconds: 60)
    #expect(typed.copyIntoUnprotectedBytes() == Array("p%ss".utf8))
    #expect(terminal.output.contains("Wrong."))
    #expect(!terminal.output.contains("p%ss"))
  }

  @Test(arguments: [("\r", Pinentry.Choice.first), ("\t\r", .second), ("\t\t\r", .refused)])
  func threeButtonsOfCurses(_ keys: String, _ expected: Pinentry.Choice) throws {
    terminal.type(keys, after: "Refuse")
    #expect(try pinentry("pinentry-curses").choose(PinentryTests.question, PinentryTests.buttons, seconds: 60) == expected)
  }

  @Test(arguments: [("o", Pinentry.Choice.first), ("f", .second), ("r", .refused)])
  func threeButtonsOfATerminal(_ keys: String, _ expected: Pinentry.Choice) throws {
    terminal.type(keys, after: "[orf]?")
    #expect(try pinentry("pinentry-tty").choose(PinentryTests.question, PinentryTests.buttons, seconds: 60) == expected)
  }

  @Test(arguments: ["pinentry-curses", "pinentry-tty"]) func nobodyAnswers(_ name: String) throws {
    #expect(throws: PinentryError(.timedOut)) {
      _ = try pinentry(name).choose(PinentryTests.question, PinentryTests.buttons, seconds: 1)
    }
  }

  /// One that is ended in the middle of its question leaves the terminal as it was.
  @Test func aQuestionThatIsWithdrawnLeavesTheScreen() throws {
    var pair: [Int32] = [-1, -1]
    _ = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
    guard let ours = OwnedDescriptor(pair[0]), let theirs = OwnedDescriptor(pair[1]) else { throw POSIXError(.ENFILE) }
    let theirEnd = theirs.number
    // As a client that goes away.
    terminal.when("Refuse") { shutdown(theirEnd, Int32(SHUT_RDWR)) }
    #expect(throws: PinentryError(.withdrawn)) {
      _ = try pinentry("pinentry-curses").choose(
        PinentryTests.question, PinentryTests.buttons, seconds: 600, withdrawal: ours.number)
    }
    // The sequence with which a program of the whole screen says goodbye.
    terminal.wait(for: "\u{1B}[?1049l")
  }
}
