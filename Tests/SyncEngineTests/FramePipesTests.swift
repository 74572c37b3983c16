import CofferFiles
import Glibc
import Testing

@testable import SyncEngines

/// The other end of a connection may do anything.
@Suite struct FramePipesTests {
  /// The reading end of what a script writes.
  private static func output(of script: String) -> (Int32, process: Int32) {
    var ends: [Int32] = [0, 0]
    precondition(unsafe pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var program = ChildProgram("/bin/sh", ["-c", script])
    program.streams = [.none, .descriptor(ends[1]), .none]
    let started = program.start()
    precondition(started.errno == 0)
    close(ends[1])
    return (ends[0], started.process)
  }

  /// Each byte comes in time, and the frame does not.
  @Test(arguments: [true, false]) func aFrameThatDripsEnds(isAnswer: Bool) {
    let (end, process) = Self.output(of: "printf '\\100\\000\\000\\000'; while printf x; do sleep 0.05; done")
    let pipes = FramePipes(input: end, output: -1, patience: 400)
    #expect(code { _ = try pipes.receive(isAnswer: isAnswer) } == .io)
    close(end)
    kill(process, SIGKILL)
    _ = ChildProgram.wait(for: process)
  }

  /// A call is not owed: its first byte may come late.
  @Test func aServerWaitsForACall() throws {
    let (end, process) = Self.output(of: "sleep 0.3; printf '\\001\\000\\000\\000x'")
    let pipes = FramePipes(input: end, output: -1, patience: 100)
    #expect(try pipes.receive(isAnswer: false) == [UInt8(ascii: "x")])
    close(end)
    _ = ChildProgram.wait(for: process)
  }

  @Test func anEndThatReadsNothingDoesNotHoldASender() {
    var ends: [Int32] = [0, 0]
    precondition(unsafe pipe(&ends) == 0)
    let pipes = FramePipes(input: -1, output: ends[1], patience: 100)
    #expect(code { try pipes.send([UInt8](repeating: 0, count: 1 << 20)) } == .io)
    for end in ends { close(end) }
  }
}
