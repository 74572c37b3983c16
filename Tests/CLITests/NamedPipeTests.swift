import CofferConsole
import Foundation
import Testing

@Suite struct NamedPipeTests {
  private let directory: Workspace

  init() throws { directory = try Workspace() }

  private func pipe() throws -> String {
    let path = "\(directory.path)/pipe"
    unsafe mkfifo(path, 0o600)
    return path
  }

  /// No program waits for one that never comes.
  @Test(.timeLimit(.minutes(60))) func aPipeThatNoProgramWritesToIsEmpty() throws {
    let opened = try Descriptor.open(try pipe(), patience: 10)
    defer { opened.close() }
    #expect(try opened.contents(limit: 100) == [])
  }

  @Test(.timeLimit(.minutes(60))) func aWriterIsWaitedFor() throws {
    let path = try pipe()
    // A thread of its own: the test waits in a call of the system.
    Thread.detachNewThread {
      // Opens when there is a reader.
      let number = unsafe open(path, O_WRONLY)
      usleep(50_000)
      unsafe write(number, "abc", 3)
      close(number)
    }
    let opened = try Descriptor.open(path, patience: 600_000)
    defer { opened.close() }
    #expect(try opened.contents(limit: 100) == Array("abc".utf8))
  }
}
