import CofferFiles
import Glibc
import Synchronization
import Testing

/// The same scripts by env(1) and by `coffer run` at a terminal: what is shown, the status, and the mode of the terminal afterwards are
/// equal, but for the secret.
@Suite struct MaskedTerminalTests {
  enum Action: Sendable {
    case expect(String)
    case send(String)
    /// Waits until coffer hands keys on. The terminal shows a key that is typed before, and that of the program shows it again.
    case handOver
    case resize(UInt16, UInt16)
  }

  struct Script: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// `RUN` stands for the command.
    let text: String
    var actions: [Action] = []
  }

  static let scripts: [Script] = [
    Script(
      testDescription: "output and the standard streams",
      text: #"RUN sh -c 'echo "a $T b"; stty size; test -t 0 -a -t 1 -a -t 2 && echo all'"#),
    Script(testDescription: "colours", text: "RUN ls --color=auto -d /"),
    Script(testDescription: "the mode", text: "RUN stty -a"),
    Script(testDescription: "a status", text: "RUN sh -c 'exit 7'"),
    Script(testDescription: "a signal", text: "RUN sh -c 'kill -TERM $$'; echo $?"),
    Script(testDescription: "not found", text: "RUN ./none 2>/dev/null; echo $?"),
    Script(
      testDescription: "lines that are typed", text: "RUN sh -c 'echo go; cat'",
      actions: [.expect("go"), .send("line\n"), .expect("line\r\nline"), .send("\u{4}")]),
    Script(
      testDescription: "input without echo", text: "RUN bash -c 'read -s -p Word: x; echo; echo $x'",
      actions: [.expect("Word:"), .send("hidden\n")]),
    Script(
      testDescription: "raw mode",
      text:
        "RUN python3 -c 'import tty,os,termios as t; o=t.tcgetattr(0); tty.setraw(0); os.write(1,b\"go\"); print(os.read(0,1)); t.tcsetattr(0,1,o)'",
      actions: [.expect("go"), .send("\u{3}")]),
    Script(
      testDescription: "^C ends the script too", text: "RUN sh -c 'echo go; exec sleep 600'; echo never",
      actions: [.expect("go"), .send("\u{3}")]),
    Script(
      testDescription: "a new size", text: "RUN sh -c 'trap \"stty size; exit\" WINCH; echo go; while :; do sleep 0.05; done'",
      actions: [.expect("go"), .resize(40, 100)]),
    Script(
      testDescription: "^Z and fg", text: "set -m; RUN sh -c 'echo go; cat; echo end'; echo stopped $?; fg >/dev/null; echo $?",
      actions: [
        .expect("go"), .send("l\n"), .expect("l\r\nl"), .send("\u{1a}"), .expect("stopped 1"), .handOver, .send("m\n"),
        .expect("m\r\nm"),
        .send("\u{4}"),
      ]),
    Script(
      testDescription: "a stop and bg",
      text: "set -m; RUN sh -c 'kill -TSTP $$; echo on' ; echo $?; bg >/dev/null; wait; echo end"),
    Script(testDescription: "SIGSTOP and fg", text: "set -m; RUN sh -c 'kill -STOP $$; echo on' ; echo $?; fg >/dev/null"),
    Script(
      testDescription: "reading from the background",
      text: "set -m; RUN head -n 1 & until jobs %1 | grep -q Stopped; do sleep 0.05; done; echo go; fg >/dev/null",
      actions: [.expect("go"), .handOver, .send("x\n")]),
    Script(testDescription: "writing from the background", text: "set -m; RUN echo out & wait; echo end"),
    Script(
      testDescription: "writing from the background with tostop",
      text:
        "stty tostop; set -m; RUN echo out & until jobs %1 | grep -q Stopped; do sleep 0.05; done; fg >/dev/null; stty -tostop"),
    Script(testDescription: "input from a pipe", text: "echo x | RUN cat"),
    Script(testDescription: "output to a pipe", text: "RUN sh -c 'echo \"$T\"; test -t 2 && echo terminal' | cat"),
    Script(
      testDescription: "keys in a pipeline", text: "echo x | RUN sh -c 'cat; head -n 1 </dev/tty'",
      actions: [.expect("x\r\n"), .handOver, .send("q\n")]),
    Script(
      testDescription: "a question in a pipeline", text: "RUN bash -c 'read -s -p Word: x </dev/tty; echo; echo $x' | cat",
      actions: [.expect("Word:"), .send("w\n")]),
    Script(
      testDescription: "a program that is left",
      text: "RUN sh -c 'sleep 600 & echo $! >left; echo hi'; kill $(cat left) && echo alive"),
    Script(
      testDescription: "one in the other",
      text: "RUN coffer run --set T=coffer://default/db/app --key-file key -- sh -c 'echo hi; stty size'"),
    Script(testDescription: "no controlling terminal", text: "setsid -w RUN sh -c 'echo hi; stty size <&1'"),
    Script(
      testDescription: "a shell with jobs", text: "RUN bash --norc -i",
      actions: [
        .expect("# "), .send("sh -c 'trap \"echo o\"\"n; exit\" CONT; echo g\"\"o; read x'\n"),
        .expect("go\r\n"),
        .send("\u{1a}"), .expect("Stopped"), .expect("# "), .send("fg\n"), .expect("on\r\n"), .expect("# "), .send("exit 3\n"),
      ]),
  ]

  private static let masked = "coffer run --key-file key --"
  /// Waits for the program, whose terminal and group are those of coffer, and removes the file then.
  private static let waiting = "coffer run --no-masking --path F=coffer://default/db/app --key-file key --"

  private struct Run: Equatable {
    var shown: String
    var status: Int32?
    var isModeKept: Bool
  }

  private func run(_ script: Script, by command: String, in workspace: Workspace) throws -> Run {
    let terminal = try PseudoTerminal()
    terminal.resize(rows: 24, columns: 80)
    let mode = terminal.mode
    let text = "export T=coffer://default/db/app PS1='# '; " + script.text.replacing("RUN", with: command)
    let child = try Child.spawning.withLock { _ in
      try Child(
        "cat >script <<'END'\n\(text)\nEND\nexec bash --norc script", in: workspace.path, environment: workspace.environment,
        terminal: terminal.path)
    }
    let deadline = Deadline(milliseconds: 300_000)
    for action in script.actions {
      switch action {
      case .expect(let text):
        try #require(
          terminal.expect(Array(text.utf8), until: deadline), "\(text): \(String(decoding: terminal.transcript, as: UTF8.self))")
      case .send(let text): terminal.send(Array(text.utf8))
      case .handOver: try #require(!command.hasPrefix(Self.masked) || terminal.waitForMode("-icanon", until: deadline))
      case .resize(let rows, let columns): terminal.resize(rows: rows, columns: columns)
      }
    }
    let status = child.wait(until: deadline, while: terminal.drain)
    terminal.drain()
    let shown = String(decoding: terminal.transcript, as: UTF8.self).replacing(command, with: "RUN").replacing(
      "<concealed T>", with: "coffer://default/db/app")
    return Run(shown: shown, status: status, isModeKept: terminal.mode == mode)
  }

  private func prepared() throws -> Workspace {
    let workspace = try Workspace()
    let made = try workspace.run(
      script: """
        umask 077; head -c 32 /dev/urandom >key && coffer vault init --key-file key --no-passphrase
        printf 's3cret' | coffer secret set db/app --key-file key
        """)
    try #require(made.status == 0, "\(made.errors)")
    return workspace
  }

  @Test(arguments: scripts) func aScriptRunsAsWithoutCoffer(script: Script) throws {
    let workspace = try prepared()
    let plain = try run(script, by: "env", in: workspace)
    let masked = try run(script, by: Self.masked, in: workspace)
    #expect(masked == plain)
    #expect(masked.status != nil)
  }

  @Test(arguments: scripts) func aScriptWithAFileRunsAsWithoutCoffer(script: Script) throws {
    let workspace = try prepared()
    let plain = try run(script, by: "env", in: workspace)
    var waiting = try run(script, by: Self.waiting, in: workspace)
    waiting.shown = waiting.shown.replacing("s3cret", with: "coffer://default/db/app")
    #expect(waiting == plain)
    #expect(waiting.status != nil)
  }

  /// Else the comparison would say nothing of the output.
  @Test func theSecretIsConcealedAtATerminal() throws {
    let workspace = try prepared()
    let script = Script(
      testDescription: "",
      text: "RUN sh -c 'echo $T; printf s3; sleep 0.2; printf cret' | cat; RUN sh -c 'printf s3cr; printf et'")
    let masked = try run(script, by: Self.masked, in: workspace)
    #expect(!masked.shown.contains("s3cret"))
    let shown = try run(script, by: "coffer run --no-masking --key-file key --", in: workspace)
    #expect(shown.shown.contains("s3cret"))
  }
}
