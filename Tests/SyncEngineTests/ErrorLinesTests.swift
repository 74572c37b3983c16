import CofferFiles
import Glibc
import Synchronization
import Testing

@testable import SyncEngines

/// The standard error of a program is read, whatever it writes.
@Suite struct ErrorLinesTests {
  private final class Told: Sendable { let lines = Mutex<[String]>([]) }

  private static func lines(of script: String) throws -> [String] {
    let told = Told()
    do {
      let errors = try #require(ErrorLines { line in told.lines.withLock { $0.append(line) } })
      var program = ChildProgram("/bin/sh", ["-c", script])
      program.streams = [.none, .none, .descriptor(errors.other)]
      let started = program.start()
      errors.closeOther()
      #expect(started.errno == 0 && ChildProgram.wait(for: started.process) == 0)
      withExtendedLifetime(errors) {}
    }
    return told.lines.withLock { $0 }
  }

  @Test func allOfThemAreTold() throws {
    #expect(try Self.lines(of: "printf 'a\\r\\n\\nb\\rc' >&2") == ["a", "", "b\rc"])
    #expect(try Self.lines(of: "true") == [])
  }

  /// As ssh does with a connection for later commands.
  @Test func aProgramThatStaysIsNotWaitedFor() throws {
    let lines = try Self.lines(of: "sleep 1000 & echo $! >&2")
    #expect(lines.count == 1)
    if let process = lines.first.flatMap({ Int32($0) }) { kill(process, SIGKILL) }
  }

  @Test func aFloodIsReadAndNotTold() throws {
    let lines = try Self.lines(of: "head -c 10000000 /dev/zero | tr '\\0' x >&2; echo; echo end >&2")
    #expect(lines.map(\.utf8.count).reduce(0, +) <= 1 << 16 && lines.count > 10 && !lines.contains("end"))
  }
}
