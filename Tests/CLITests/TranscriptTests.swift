import Glibc
import Testing

/// Runs every file in Transcripts against the `coffer` that was built beside this test.
@Suite struct TranscriptTests {
  static let directory: String = {
    let file = #filePath
    return file.prefix(file.utf8.count - "TranscriptTests.swift".utf8.count) + "Transcripts"
  }()

  static var names: [String] {
    guard let stream = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name.hasSuffix(".transcript") { names.append(String(name.dropLast(".transcript".count))) }
    }
    return names.sorted()
  }

  @Test func transcriptsAreFound() {
    #expect(!Self.names.isEmpty)
  }

  @Test(arguments: names) func transcript(_ name: String) throws {
    try run(name, Workspace()) { $0 }
  }

  /// The same items, asked of the agent, which the key file has unlocked: nobody can tell the difference.
  @Test(arguments: ["items", "bytes", "damage"]) func throughTheAgent(_ name: String) throws {
    let workspace = try Workspace()
    defer { _ = try? workspace.run(script: "coffer agent stop") }
    try run(name, workspace) { steps in
      var unlock = Transcript.Step()
      unlock.command = "coffer vault unlock --key-file key"
      var steps = steps
      let first = try #require(steps.firstIndex { $0.command.contains("vault init") })
      steps.insert(unlock, at: first + 1)
      for index in steps.indices where steps[index].command.contains("coffer secret") {
        steps[index].command = steps[index].command.replacing(" --key-file key", with: "")
      }
      return steps
    }
  }

  private func run(_ name: String, _ workspace: Workspace, _ change: ([Transcript.Step]) throws -> [Transcript.Step]) throws {
    let text = try Workspace.read("\(Self.directory)/\(name).transcript")
    for step in try change(Transcript(text).steps) {
      let failures = step.isOnTerminal ? try workspace.runOnTerminal(step) : try workspace.run(step)
      #expect(failures.isEmpty, "\(name).transcript:\(step.line): \(step.command)\n\(failures.joined(separator: "\n"))")
      guard failures.isEmpty else { return }
    }
  }
}
