import CofferTesting
import Foundation
import Glibc
import Testing
import VaultCore

@testable import Pinentry

/// A terminal, and a person who types.
final class Terminal: Sendable {
  private let master: Int32
  private let slave: Int32
  let name: String
  private let screen = Screen()

  /// What was shown. The thread that reads keeps this alive, and not the terminal.
  private final class Screen: @unchecked Sendable {
    private let lock = NSLock()
    private var seen = ""
    func append(_ bytes: ArraySlice<UInt8>) { lock.withLock { seen += String(decoding: bytes, as: UTF8.self) } }
    var text: String { lock.withLock { seen } }
  }

  init() throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var name = [CChar](repeating: 0, count: 64)
    var size = winsize(ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
    guard unsafe openpty(&master, &slave, &name, nil, &size) == 0 else { throw POSIXError(.ENOTTY) }
    for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    (self.master, self.slave) = (master, slave)
    self.name = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    Foundation.Thread.detachNewThread { [master, screen] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = unsafe read(master, &buffer, buffer.count)
        guard count > 0 else { break }
        screen.append(buffer[..<count])
      }
    }
  }

  deinit {
    close(slave)
    close(master)
  }

  var output: String { screen.text }

  /// Types when a text has been shown.
  func type(_ keys: String, after text: String) {
    Foundation.Thread.detachNewThread { [screen, master] in
      while !screen.text.contains(text) { usleep(1000) }
      unsafe _ = write(master, keys, keys.utf8.count)
    }
  }
}

/// Debian's own.
@Suite(.timeLimit(.minutes(15))) struct RealPinentryTests {
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
    var pair: [Int32] = [0, 0]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let theirs = pair[1]
    Foundation.Thread.detachNewThread { [terminal] in
      while !terminal.output.contains("Refuse") { usleep(1000) }
      close(theirs)
    }
    #expect(throws: PinentryError(.withdrawn)) {
      _ = try pinentry("pinentry-curses").choose(
        PinentryTests.question, PinentryTests.buttons, seconds: 600, withdrawal: pair[0])
    }
    close(pair[0])
    // The sequence with which a program of the whole screen says goodbye.
    while !terminal.output.contains("\u{1B}[?1049l") { usleep(1000) }
  }
}
