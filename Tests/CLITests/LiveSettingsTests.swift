import CofferFiles
import Testing

/// The example: a program with settings, two of it at two terminals.
@Suite struct LiveSettingsTests {
  private struct Person {
    let terminal: PseudoTerminal
    let program: Child

    init(in workspace: Workspace) throws {
      terminal = try PseudoTerminal()
      program = try Child("exec LiveSettings", in: workspace.path, environment: workspace.environment, terminal: terminal.path)
    }

    func sees(_ text: String, _ place: SourceLocation = #_sourceLocation) {
      #expect(
        terminal.expect(Array(text.utf8), until: Deadline(milliseconds: 300_000)),
        "\(text): \(String(decoding: terminal.transcript, as: UTF8.self))", sourceLocation: place)
    }

    func types(_ keys: String) { terminal.send(Array(keys.utf8)) }
  }

  @Test("what one program changes, the other shows at once, and so does what the command changes")
  func sideBySide() throws {
    let workspace = try Workspace()
    let (one, other) = (try Person(in: workspace), try Person(in: workspace))
    for person in [one, other] {
      person.sees("Settings of nobody")
      person.sees("80 %")
    }
    one.types("-")
    other.sees("75 %")
    one.sees("75 %")
    other.types("t")
    one.sees("light")
    other.sees("light")
    let step = Transcript.Step(
      command: "coffer defaults write com.example.live-settings nickname Ada && "
        + "coffer defaults write com.example.live-settings volume -int 5", output: [])
    #expect(try workspace.run(step).isEmpty)
    for person in [one, other] {
      person.sees("Settings of Ada")
      person.sees(" 5 %")
    }
    one.types("--")
    other.sees(" 0 %")
    one.types("q")
    #expect(one.program.wait(until: Deadline(milliseconds: 300_000)) == 0)
    #expect(one.terminal.has("+echo") && one.terminal.has("+icanon"))
    #expect(other.terminal.has("-echo"))
    // Interrupted, it leaves the terminal as it was, too.
    other.types("\u{3}")
    #expect(other.program.wait(until: Deadline(milliseconds: 300_000)) == 0)
    #expect(other.terminal.has("+echo"))
  }

  @Test("without a terminal it says so")
  func withoutATerminal() throws {
    let workspace = try Workspace()
    let step = Transcript.Step(
      command: "LiveSettings </dev/null", errors: ["LiveSettings: needs a terminal"], status: 2)
    #expect(try workspace.run(step).isEmpty)
  }
}
