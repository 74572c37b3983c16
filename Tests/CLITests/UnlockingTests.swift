import Foundation
import Synchronization
import Testing
import Waiting

@testable import SecretService

/// The window in which `coffer-secrets` asks the owner, and the calls that wait for it.
@Suite(.timeLimit(.minutes(60))) struct UnlockingTests {
  private final class Answers: Sendable {
    let all = Mutex<[Bool]>([])
    func add(_ answer: Bool) { all.withLock { $0.append(answer) } }
    var count: Int { all.withLock { $0.count } }
  }

  /// In a process of its own, which has a display.
  @Test func eachCallIsAnsweredWhenItsTimeIsOver() async {
    await #expect(processExitsWith: .success) {
      let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-unlocking-\(UUID())")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let (command, number) = (directory.appending(path: "coffer"), directory.appending(path: "number"))
      // A window that stays.
      try Data("#!/bin/sh\necho $$ >\(number.path)\nexec sleep 3600\n".utf8).write(to: command)
      #expect(unsafe chmod(command.path, 0o700) == 0)
      unsafe setenv("DISPLAY", ":99", 1)
      let (unlocking, short, long) = (Unlocking(command: command.path), Answers(), Answers())
      unlocking.ask(within: 100) { short.add($0) }
      unlocking.ask(within: 3_600_000) { long.add($0) }
      try wait(for: "the answer") { short.count == 1 }
      #expect(short.all.withLock { $0 } == [false])
      // The window is there for the other one.
      let process = try #require(Int32(String(contentsOf: number, encoding: .utf8).dropLast()))
      #expect(kill(process, 0) == 0 && long.count == 0)
      kill(process, SIGKILL)
      try wait(for: "the answer") { long.count == 1 }
      // After a refusal no window opens for a while.
      let later = Answers()
      unlocking.ask(within: 3_600_000) { later.add($0) }
      #expect(later.all.withLock { $0 } == [false])
    }
  }

  /// A window that nothing waits for is closed.
  @Test func aWindowIsClosedWithTheLastCall() async {
    await #expect(processExitsWith: .success) {
      let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-unlocking-\(UUID())")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let (command, ended) = (directory.appending(path: "coffer"), directory.appending(path: "ended"))
      try Data("#!/bin/sh\ntrap 'touch \(ended.path); exit' TERM\nwhile :; do sleep 0.1; done\n".utf8).write(to: command)
      #expect(unsafe chmod(command.path, 0o700) == 0)
      unsafe setenv("DISPLAY", ":99", 1)
      let (unlocking, answers) = (Unlocking(command: command.path), Answers())
      unlocking.ask(within: 1000) { answers.add($0) }
      try wait(for: "the end of the window") { FileManager.default.fileExists(atPath: ended.path) }
      #expect(answers.all.withLock { $0 } == [false])
    }
  }
}
