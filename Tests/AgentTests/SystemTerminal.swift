import Foundation
import SystemBench
import Testing
import Waiting

extension SystemBench {
  /// Runs a command at a terminal, and `between` once it asks.
  func atTerminal(_ command: String, between: () throws -> Void, answers: String) throws -> Child.Outcome {
    let (asked, go) = (home.path + "/asked", home.path + "/go")
    let script = """
      import os, pty, sys, time
      pid, terminal = pty.fork()
      if pid == 0: os.execvp('/bin/sh', ['/bin/sh', '-c', sys.argv[1]])
      text, answers = b'', list(sys.argv[4])
      while True:
          try: piece = os.read(terminal, 4096)
          except OSError: break
          if not piece: break
          text += piece
          if text.count(b'[y/N]') > len(sys.argv[4]) - len(answers) and answers:
              if not os.path.exists(sys.argv[2]):
                  open(sys.argv[2], 'w').close()
                  while not os.path.exists(sys.argv[3]): time.sleep(0.02)
              answer = answers.pop(0)
              if answer == 'k': os.kill(pid, 9)
              else: os.write(terminal, answer.encode() + b'\\r')
      sys.stdout.buffer.write(text)
      status = os.waitpid(pid, 0)[1]
      sys.exit(os.waitstatus_to_exitcode(status) & 255)
      """
    try script.write(toFile: directory.path + "/terminal.py", atomically: true, encoding: .utf8)
    let running = self
    let result = OutcomeBox()
    let ended = DispatchSemaphore(value: 0)
    Foundation.Thread.detachNewThread {
      result.outcome = try? running.run(
        "/usr/bin/python3", [running.directory.path + "/terminal.py", command, asked, go, answers])
      ended.signal()
    }
    defer {
      _ = FileManager.default.createFile(atPath: go, contents: nil)
      ended.wait()
      for file in [asked, go] { try? FileManager.default.removeItem(atPath: file) }
    }
    try wait(for: "the question") { FileManager.default.fileExists(atPath: asked) }
    try between()
    _ = FileManager.default.createFile(atPath: go, contents: nil)
    ended.wait()
    ended.signal()
    return try #require(result.outcome)
  }
}

private final class OutcomeBox: @unchecked Sendable { var outcome: Child.Outcome? }
