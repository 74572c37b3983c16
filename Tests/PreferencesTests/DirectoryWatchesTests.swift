import Foundation
import Testing

@testable import CofferPreferences

@Suite struct DirectoryWatchesTests {
  /// The order in which the directories are watched is random: twenty pairs cover both orders.
  @Test func aDirectoryThatStandsInForAnotherBelowItIsNewAllTheSame() throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "coffer-watches-\(UUID())")
    defer { try? FileManager.default.removeItem(at: root) }
    var there: Set<String> = []
    for index in 0..<20 {
      let directory = root.appending(path: "\(index)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      there.insert(directory.path)
    }
    var watches = DirectoryWatches()
    let missing = Set(there.map { $0 + "/users/0" })
    #expect(watches.follow(there.union(missing)) == there)
    // Changes of existing files are reported as well.
    #expect(watches.follow(there.union(missing)).isEmpty)
    for directory in there { try Data("x".utf8).write(to: URL(filePath: directory + "/file")) }
    #expect(Set(watches.read().keys) == there)
    for directory in there {
      try FileManager.default.createDirectory(atPath: directory + "/users/0", withIntermediateDirectories: true)
    }
    _ = watches.read()
    #expect(watches.follow(there.union(missing)) == missing)
  }
}
