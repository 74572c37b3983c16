import CofferTesting
import FakePinentry
import Foundation
import SecretMemory
import Testing
import Waiting

@testable import Pinentry

@Suite struct PinentryTests {
  static let question = Pinentry.Question(description: "what", prompt: "Passphrase:")
  static let words = Pinentry.Words(first: "yes", second: "longer")

  private func typed(_ answer: String) throws -> [UInt8] {
    let fake = try FakePinentry("serve({'GETPIN': \(answer)})")
    defer { fake.remove() }
    return try fake.pinentry().passphrase(Self.question, seconds: 60).copyIntoUnprotectedBytes()
  }

  private func code(_ body: String, reaction: Int64 = 60_000, _ place: SourceLocation = #_sourceLocation) throws
    -> PinentryError.Code?
  {
    let fake = try FakePinentry(body)
    defer { fake.remove() }
    defer { #expect(fake.isGone, sourceLocation: place) }
    do {
      _ = try fake.pinentry(reaction: reaction).passphrase(Self.question, seconds: 0)
      return nil
    } catch let error as PinentryError {
      return error.code
    }
  }

  @Test func escapesInTypedTextAreResolved() throws {
    #expect(try typed("'D hunter2\\nOK'") == Array("hunter2".utf8))
    #expect(try typed("'D a%25b%0A%0d%zz'.replace('%zz', '%7e') + '\\nOK'") == Array("a%b\n\r~".utf8))
    #expect(try typed("'OK'").isEmpty)
    // In several data lines, with other lines between them.
    #expect(try typed("'S PASSWORD_FROM_CACHE\\nD one \\n# x\\nD  two\\nOK fine'") == Array("one  two".utf8))
    #expect(try typed("'D ' + 'x' * 998 + '\\nD ' + 'y' * 998 + '\\nOK'").count == 1996)
  }

  @Test func aNoIsItsOwnError() throws {
    #expect(try code("serve({'GETPIN': 'ERR 83886179 Operation cancelled'})") == .cancelled)
    #expect(try code("serve({'GETPIN': 'ERR 198'})") == .cancelled)
    #expect(try code("serve({'GETPIN': 'ERR 83886142 Timeout'})") == .timedOut)
    #expect(try code("serve({'GETPIN': 'ERR 83886247 what'})") == .failed)
    // With libgpg-error's description.
    for (line, words) in [
      (
        "ERR 83918950 Inappropriate ioctl for device <Pinentry>",
        "the pinentry has failed: Inappropriate ioctl for device <Pinentry>"
      ),
      ("ERR 83886247", "the pinentry has failed: error 167 of libgpg-error"),
      ("ERR 83886247 \\x1b[2Jx", "the pinentry has failed: \\u{1b}[2Jx"),
    ] {
      let fake = try FakePinentry("serve({'GETPIN': '\(line)'})")
      defer { fake.remove() }
      do {
        _ = try fake.pinentry().passphrase(Self.question, seconds: 0)
      } catch let error as PinentryError {
        #expect(error.words == words)
      }
    }
    // Without these texts the person could not tell what the question is.
    #expect(try code("serve({'SETDESC': 'ERR 83886355 unknown'})") == .failed)
    // Optional commands may fail.
    #expect(try code("serve({'OPTION': 'ERR 1 no', 'SETTITLE': 'ERR 1 no', 'SETTIMEOUT': 'ERR 1 no'})") == nil)
  }

  /// Each process is ended and reaped, which `code` checks.
  @Test func failuresOfThePinentryAreDistinguished() throws {
    #expect(try code("forever()", reaction: 500) == .silent)
    #expect(try code("serve({'GETPIN': forever})", reaction: 3000) == .silent)
    #expect(
      try code("signal = __import__('signal'); signal.signal(signal.SIGALRM, signal.SIG_IGN); forever()", reaction: 500)
        == .silent)
    #expect(try code("pass") == .ended)
    #expect(try code("serve({'GETPIN': lambda: os._exit(0)})") == .ended)
    #expect(try code("while True: say('# still here')") == .tooMuch)
    #expect(try code("while True: sys.stdout.write('x')") == .lineTooLong)
    #expect(try code("serve({'GETPIN': 'D ' + 'x' * 999 + '\\nOK'})") == .lineTooLong)
    #expect(try code("serve({'GETPIN': '\\n'.join(['D ' + 'x' * 900] * 20) + '\\nOK'})") == .tooMuch)
    for line in ["hello", "", "OKAY", "ERR", "ERR ", "ERR x", "ERR 99999999999", "ok", "INQUIRE QUALITY", "D"] {
      #expect(try code("serve({'GETPIN': '\(line)'})") == .malformed, "\(line)")
    }
    for escape in ["%", "%1", "%1g", "%g1", "a%"] {
      #expect(try code("serve({'GETPIN': 'D \(escape)\\nOK'})") == .malformed, "\(escape)")
    }
    #expect(try code("say('ERR 1 go away'); forever()") == .malformed)
  }

  @Test func aProgramThatCannotBeStarted() throws {
    let fake = try FakePinentry("")
    defer { fake.remove() }
    try Data("no program".utf8).write(to: fake.directory.appending(path: "program"))
    #expect(throws: PinentryError(.notStarted)) { _ = try fake.pinentry().passphrase(Self.question, seconds: 1) }
  }

  @Test func aClosedConnectionEndsTheQuestion() throws {
    let fake = try FakePinentry("serve({'GETPIN': forever})")
    defer { fake.remove() }
    var pair: [Int32] = [0, 0]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    // Data from the asking process does not end the question.
    unsafe _ = write(pair[1], "more", 4)
    let pinentry = try fake.pinentry()
    let (mine, theirs) = (pair[0], pair[1])
    let thread = Thread {
      do { try wait(for: "the question") { fake.told.contains("GETPIN") } } catch { Issue.record(error) }
      close(theirs)
    }
    thread.start()
    #expect(throws: PinentryError(.withdrawn)) { _ = try pinentry.passphrase(Self.question, seconds: 600, withdrawal: mine) }
    close(mine)
    #expect(fake.isGone)
  }

  // MARK: Environment and texts

  @Test func textsAreOneLineEach() throws {
    let fake = try FakePinentry("serve({})")
    defer { fake.remove() }
    var display = Display(environment: { ["DISPLAY": ":7", "LANG": "de_DE.UTF-8"][$0] })
    #expect(display.isKnown && display.hasDisplay)
    display = Display(environment: { ["DISPLAY": ":7", "LANG": "de_DE.UTF-8", "TERM": "xterm"][$0] }, terminal: "/dev/pts/9")
    let question = Pinentry.Question(
      title: "T\nBYE", description: "100 %\n\u{1B}[2J ü", prompt: "P\r\nGETPIN", error: "Wrong\u{7F}")
    _ = try fake.pinentry(at: display).passphrase(question, seconds: 17)
    #expect(
      fake.told == [
        "OPTION display=:7", "OPTION ttyname=/dev/pts/9", "OPTION ttytype=xterm", "OPTION lc-ctype=de_DE.UTF-8",
        "SETTITLE T%0ABYE", "SETTIMEOUT 17", "SETDESC 100 %25%0A%1B[2J ü", "SETERROR Wrong%7F", "SETPROMPT P%0D%0AGETPIN",
        "GETPIN",
      ])
  }

  @Test func aTextThatFitsNoLineIsRefused() throws {
    let fake = try FakePinentry("serve({})")
    defer { fake.remove() }
    let fits = Pinentry.Question(description: String(repeating: "x", count: 1000 - "SETDESC ".utf8.count))
    _ = try fake.pinentry().passphrase(fits, seconds: 1)
    let question = Pinentry.Question(description: fits.description + "x")
    #expect(throws: PinentryError(.lineTooLong)) { _ = try fake.pinentry().passphrase(question, seconds: 1) }
  }

  @Test func itHasNothingOfOurs() throws {
    let fake = try FakePinentry(
      """
      notes = open(directory + '/notes', 'w')
      notes.write(' '.join(sorted(os.listdir('/proc/self/fd'))) + '\\n')
      notes.write(' '.join(sorted(name for name in os.environ if name != 'LC_CTYPE')) + '\\n')
      notes.write(str(os.getsid(0) == os.getpid()))
      notes.close()
      serve({})
      """)
    defer { fake.remove() }
    // A descriptor without close-on-exec.
    let open = dup(0)
    defer { close(open) }
    #expect(fcntl(open, F_GETFD) == 0)
    let program = try fake.program(["HOME": "/home/ada", "SECRET": "x", "LD_PRELOAD": "/tmp/x.so", "PATH": "/tmp"])
    let display = Display(environment: { ["DISPLAY": ":7", "WAYLAND_DISPLAY": "wayland-0"][$0] })
    _ = try Pinentry(program, at: display).passphrase(Self.question, seconds: 1)
    let notes = fake.notes.split(separator: "\n")
    try #require(notes.count == 3)
    // The standard three, the file of the notes, the log of its input, and the listed directory.
    #expect(notes[0] == "0 1 2 3 4 5")
    #expect(notes[1] == "DISPLAY HOME PATH WAYLAND_DISPLAY")
    #expect(notes[2] == "True")
  }

  // MARK: A word

  private func chosen(_ answer: String, _ words: Pinentry.Words = words, while isWanted: (() -> Bool)? = nil) throws
    -> Pinentry.Choice
  {
    let fake = try FakePinentry("serve({'GETPIN': \(answer)})")
    defer { fake.remove() }
    defer { #expect(fake.isGone) }
    return try fake.pinentry().choose(Self.question, words, seconds: 60, while: isWanted)
  }

  @Test func onlyTheWordIsAYes() throws {
    #expect(try chosen("'D yes\\nOK'") == .first)
    #expect(try chosen("'D longer\\nOK'") == .second)
    for answer in ["'OK'", "'D ye\\nOK'", "'D yess\\nOK'", "'D ls -la\\nOK'", "'D yes longer\\nOK'", "'D YES\\nOK'"] {
      #expect(try chosen(answer) == .refused, "\(answer)")
    }
    #expect(try chosen("'ERR 83886179 cancelled'") == .refused)
    #expect(throws: PinentryError(.timedOut)) { _ = try chosen("'ERR 83886142 Timeout'") }
    #expect(try chosen("'D longer\\nOK'", .init(first: "yes", second: nil)) == .refused)
  }

  /// The asking program has left the foreground of the terminal.
  @Test func aQuestionIsOverWhenItIsNotWanted() throws {
    var looks = 0
    #expect(throws: PinentryError(.background)) {
      _ = try chosen("forever") {
        looks += 1
        return looks < 5
      }
    }
    // Also if the answer arrives before the next call.
    var isAnswered = false
    let answer = "lambda: (open(directory + '/notes', 'w').write('x'), 'D yes\\nOK')[1]"
    let fake = try FakePinentry("serve({'GETPIN': \(answer)})")
    defer { fake.remove() }
    #expect(throws: PinentryError(.background)) {
      _ = try fake.pinentry().choose(Self.question, Self.words, seconds: 60) {
        isAnswered = !fake.notes.isEmpty
        return !isAnswered
      }
    }
    #expect(isAnswered)
  }
}
