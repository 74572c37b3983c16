import Foundation
import Testing

/// Replays the seeds of the fuzzers and their findings.
@Suite struct CorpusTests {
  static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus")

  @Test(arguments: FuzzTarget.all.map(\.name)) func replayed(name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let folder = Self.corpus.appending(path: name)
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(!files.isEmpty)
    for file in files {
      let bytes = try [UInt8](Data(contentsOf: file))
      do {
        try target.run(bytes)
        // Each prefix is refused or valid, too.
        for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 16)) {
          try target.run(Array(bytes.prefix(length)))
        }
      } catch {
        Issue.record("\(name)/\(file.lastPathComponent): \(error.promise)")
      }
    }
  }

  @Test func everyFolderHasATarget() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
    #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
  }

  /// The control: a target with a broken promise is reported.
  @Test func brokenPromiseIsNoticed() {
    #expect(throws: FuzzTarget.Broken.self) { try FuzzTarget("broken") { try promise($0.isEmpty, "empty") }.run([1]) }
  }
}
