import FakePinentry
import Foundation
import Testing
import VaultCore

@testable import Pinentry

@Suite struct DisplayTests {
  @Test func theProgramIsNamedOrInItsPlace() throws {
    func path(_ variables: [String: String]) throws -> String { try PinentryProgram { variables[$0] }.path }
    #expect(try path(["COFFER_PINENTRY": "/bin/true"]) == "/bin/true")
    #expect(try path([:]) == "/usr/bin/pinentry")
    #expect(try path(["COFFER_PINENTRY": "", "PATH": "/tmp"]) == "/usr/bin/pinentry")
    for wrong in ["true", "./true", "/nowhere/pinentry", "/etc/passwd"] {
      #expect(throws: PinentryError(.noProgram)) { _ = try path(["COFFER_PINENTRY": wrong]) }
    }
  }

  @Test func withoutDisplayAndTerminalNoQuestionIsPossible() throws {
    let nowhere = Display(environment: { ["TERM": "xterm", "LANG": "C", "DISPLAY": ""][$0] })
    #expect(!nowhere.isKnown && nowhere.terminalType == nil)
    #expect(throws: PinentryError(.noDisplay)) { _ = try Pinentry(PinentryProgram { _ in nil }, at: nowhere) }
    #expect(Display(environment: { $0 == "WAYLAND_DISPLAY" ? "wayland-0" : nil }).isKnown)
    #expect(!Display(environment: { $0 == "DISPLAY" ? ":0\nBYE" : nil }).isKnown)
    #expect(!Display(environment: { $0 == "DISPLAY" ? String(repeating: "x", count: 256) : nil }).isKnown)
  }

  @Test func aDisplayIsSentAndTakenBack() throws {
    let all = [
      "DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-1", "TERM": "xterm", "LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "de",
    ]
    let display = Display(environment: { all[$0] }, terminal: "/dev/pts/3")
    #expect(display.fields.count == 5 && display.characterType == "C.UTF-8")
    #expect(try Display(fields: display.fields) == display)
    for (name, value) in [
      ("other", AttributeValue.text("x")), ("display", .integer(1)), ("display", .text("")), ("terminal", .text("/dev/x\n")),
      ("display", .text(String(repeating: "x", count: 256))), ("lc-ctype", .text("a b")),
    ] {
      var fields = Attributes()
      fields[name] = value
      #expect(throws: PinentryError(.malformed)) { _ = try Display(fields: fields) }
    }
  }

  /// A terminal that belongs to another user by now, and a file that is not a terminal.
  @Test func aTerminalIsTheUsersOwn() throws {
    let terminal = try Terminal()
    func left(_ path: String, _ user: UInt32 = geteuid()) -> String? {
      Display(environment: { $0 == "DISPLAY" ? ":0" : nil }, terminal: path).owned(by: user).terminal
    }
    #expect(left(terminal.name) == terminal.name)
    #expect(left(terminal.name, geteuid() + 1) == nil)
    let link = FileManager.default.temporaryDirectory.path + "/coffer-link-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: terminal.name)
    defer { unsafe _ = unlink(link) }
    for wrong in [link, "/dev/null", "/dev/nothing", "/etc/passwd", "dev/pts/0", "/dev/shm"] {
      #expect(left(wrong) == nil, "\(wrong)")
    }
    let display = Display(environment: { $0 == "DISPLAY" ? ":0" : nil }, terminal: "/dev/nothing").owned(by: geteuid())
    #expect(display.isKnown && display.terminalType == nil)
  }

  @Test func textOfOtherProgramsIsMadeVisible() {
    func shown(_ text: String, _ limit: Int = 100) -> String { PinentryText.visible(text, limit: limit) }
    #expect(shown("mail/ada ü 漢") == "mail/ada ü 漢")
    #expect(shown("a\nb\r\t\u{1B}[0m\u{7F}\u{85}") == "a\\u{a}b\\u{d}\\u{9}\\u{1b}[0m\\u{7f}\\u{85}")
    #expect(shown("a\\u{a}") == "a\\\\u{a}")
    #expect(
      shown("\u{202E}x\u{2066}\u{200B}\u{2028}\u{FEFF}\u{E0041}") == "\\u{202e}x\\u{2066}\\u{200b}\\u{2028}\\u{feff}\\u{e0041}")
    #expect(shown("abcdef", 6) == "abcdef")
    #expect(shown("abcdef", 5) == "abcde… (1 more)")
    // Counted as sent: an escape has three bytes.
    #expect(shown("%%%", 8) == "%%… (1 more)")
    #expect(shown("üü", 3) == "ü… (1 more)")
  }
}
