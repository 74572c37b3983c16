import Foundation
import Testing

@testable import CofferPreferences

@Suite struct DirectoryWatchesTests {
  /// No event comes of either.
  @Test func aDirectoryBelowARenamedOneIsFollowedByItsPath() throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "coffer-watches-\(UUID())")
    defer { try? FileManager.default.removeItem(at: root) }
    let (parent, directory) = (root.appending(path: "parent"), root.appending(path: "parent/Preferences"))
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    var watches = DirectoryWatches()
    #expect(watches.follow([directory.path]) == [directory.path])
    #expect(watches.follow([directory.path]).isEmpty)
    try FileManager.default.moveItem(at: parent, to: root.appending(path: "former"))
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    #expect(watches.follow([directory.path]) == [directory.path])
    try Data().write(to: directory.appending(path: "new"))
    #expect(watches.read()[directory.path]?.contains("new") == true)
  }
}
