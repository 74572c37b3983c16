import AppContainers
import CofferFiles
import Foundation
import Testing

/// The state after a kill at each step, and the recovery by the next run.
@Suite struct ReplacementTests {
  private func version(_ scratch: Scratch) throws -> String? {
    try scratch.data.container(scratch.app).flatMap { container in
      try String(contentsOfFile: container.directory.path + "/Documents/version", encoding: .utf8)
    }
  }

  private func begun() throws -> (Scratch, Replacement, URL) {
    let scratch = try Scratch()
    try scratch.write("Documents/version", "old")
    let replacement = try Replacement(of: scratch.app, in: scratch.data.containers())
    let fresh = try replacement.begin()
    _ = try fresh.makeDirectory(FileName("Documents")).makeFile(FileName("version")).write(Array("new".utf8))
    return (scratch, replacement, URL(filePath: try scratch.data.containers().path))
  }

  @Test func anUnfinishedReplacementIsIgnored() throws {
    let (scratch, replacement, _) = try begun()
    #expect(try version(scratch) == "old")
    try replacement.cancel()
    #expect(try scratch.data.containers().names() == [scratch.app])
    #expect(try version(scratch) == "old")
  }

  @Test func aReadyReplacementIsPutInPlace() throws {
    let (scratch, replacement, _) = try begun()
    try replacement.makeReady()
    #expect(try version(scratch) == "new")
    #expect(try scratch.data.containers().names().filter { $0 == replacement.ready } == [])
  }

  @Test func aReadyReplacementCanBeCancelled() throws {
    let (scratch, replacement, _) = try begun()
    try replacement.makeReady()
    try replacement.cancel()
    #expect(try version(scratch) == "old")
  }

  /// The two renames and the removal, one after the other.
  @Test(arguments: 1...3) func killedAfterEachStep(steps: Int) throws {
    let (scratch, replacement, folder) = try begun()
    try replacement.makeReady()
    let (name, old) = (folder.appending(path: "\(scratch.app)"), folder.appending(path: ".\(scratch.app).old"))
    if steps >= 1 { try FileManager.default.moveItem(at: name, to: old) }
    if steps >= 2 { try FileManager.default.moveItem(at: folder.appending(path: "\(replacement.ready)"), to: name) }
    // Half-way through the old one.
    if steps >= 3 { try FileManager.default.removeItem(at: old.appending(path: "Documents/version")) }
    #expect(try version(scratch) == "new")
    #expect(!scratch.exists(old.path))
  }

  @Test func withoutANewOneTheOldOneComesBack() throws {
    let (scratch, replacement, folder) = try begun()
    try FileManager.default.moveItem(
      at: folder.appending(path: "\(scratch.app)"), to: folder.appending(path: ".\(scratch.app).old"))
    #expect(try version(scratch) == "old")
    try replacement.cancel()
    #expect(try version(scratch) == "old")
  }

  @Test func aReplacementInProgressIsNotFinishedByAnother() throws {
    let (scratch, replacement, _) = try begun()
    try replacement.makeReady()
    let lock = try RunningLock.excludingPrograms(of: scratch.app, in: scratch.data.containers())
    #expect(Scratch.code { _ = try scratch.data.container(scratch.app) } == .running)
    withExtendedLifetime(lock) {}
  }
}
