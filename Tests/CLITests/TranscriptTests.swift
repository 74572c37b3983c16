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
    let text = try Workspace.read("\(Self.directory)/\(name).transcript")
    let workspace = try Workspace()
    for step in try Transcript(text).steps {
      let failures = step.isOnTerminal ? try workspace.runOnTerminal(step) : try workspace.run(step)
      #expect(failures.isEmpty, "\(name).transcript:\(step.line): \(step.command)\n\(failures.joined(separator: "\n"))")
      guard failures.isEmpty else { return }
    }
  }
}
