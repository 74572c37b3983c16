import CofferConsole
import Glibc
import Testing

@testable import CofferCommand

/// Programs that a command asks, and that do not do as they should.
@Suite(.timeLimit(.minutes(60))) struct ProgramOutputTests {
  /// The program itself waits, or one that it has started holds its output.
  @Test(arguments: ["exec sleep 1000", "sleep 1000 & exit 0", "exec >&-; sleep 1000"])
  func aProgramThatDoesNotEndIsEndedWithItsGroup(script: String) throws {
    let workspace = try Workspace()
    let file = "\(workspace.path)/group"
    do {
      _ = try ProgramOutput.of("sh", ["-c", "echo $$ >\(file); \(script)"], patience: 1000)
      Issue.record("has ended")
    } catch let failure as Failure {
      #expect(failure.message == "sh: has not ended within 1 second")
    }
    let group = try #require(pid_t(Workspace.read(file).dropLast()))
    // Others of the group are zombies until init waits for them.
    let living = try workspace.run(script: "ps -A -o pgid=,stat= | awk '$1 == \(group) && $2 !~ /^Z/'").output
    #expect(living.isEmpty)
  }

  @Test func aLongOutputIsRefused() {
    #expect(throws: Failure.self) { try ProgramOutput.of("yes", [], patience: 100_000_000) }
  }

  @Test func theOutputIsThatOfStandardOutputAlone() throws {
    let outcome = try ProgramOutput.of("sh", ["-c", "echo out; echo err >&2; exit 3"])
    #expect(outcome.status == 3 && outcome.output == Array("out\n".utf8))
  }
}
