package import Foundation
package import Pinentry

/// A program that stands in for a pinentry, in Python, and writes down what it is told.
package struct FakePinentry {
  package let directory: URL

  /// - Parameter body: May use `say(line)`, and `serve(answers)`, which answers commands by their first word, all others with OK.
  package init(_ body: String) throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "coffer-pinentry-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let script = """
      #!/usr/bin/python3
      import os, sys, time
      directory = '\(directory.path)'
      open(directory + '/process', 'w').write(str(os.getpid()))
      told = open(directory + '/told', 'a')
      def say(line):
          sys.stdout.write(line + '\\n')
          sys.stdout.flush()
      def serve(answers):
          say('OK Pleased to meet you')
          for line in sys.stdin:
              told.write(line)
              told.flush()
              line = line.rstrip('\\n')
              answer = answers.get(line, answers.get(line.split(' ')[0], 'OK'))
              say(answer() if callable(answer) else answer)
      def forever():
          while True: time.sleep(1)
      \(body)
      """
    try script.write(to: directory.appending(path: "source"), atomically: false, encoding: .utf8)
    // A file that this process has open for writing cannot be run by a child that another thread starts at that moment.
    let install = try Process.run(
      URL(filePath: "/usr/bin/install"), arguments: ["-m", "755", directory.path + "/source", directory.path + "/program"])
    install.waitUntilExit()
  }

  package func remove() { try? FileManager.default.removeItem(at: directory) }

  package func program(_ variables: [String: String] = [:]) throws(PinentryError) -> PinentryProgram {
    let variables = variables.merging([PinentryProgram.variable: directory.path + "/program"]) { $1 }
    return try PinentryProgram { variables[$0] }
  }

  private func text(_ name: String) -> String {
    (try? String(contentsOf: directory.appending(path: name), encoding: .utf8)) ?? ""
  }

  package var told: [String] { text("told").split(separator: "\n").map(String.init) }
  package var notes: String { text("notes") }

  /// A file that the script can read, in its directory.
  package func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: directory.appending(path: name), options: .atomic)
  }

  /// Whether the program has ended, and was waited for.
  package var isGone: Bool {
    guard let process = pid_t(text("process")) else { return false }
    return kill(process, 0) != 0 && errno == ESRCH
  }
}
