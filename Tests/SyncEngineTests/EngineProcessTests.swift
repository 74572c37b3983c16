import Children
import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import Testing

/// Processes that write concurrently, are killed, run out of room, or belong to other users.
@Suite(.serialized) struct EngineProcessTests {
  /// - Parameter injection: "EINVAL": a file system that cannot rename without replacing.
  @Test(arguments: [nil, "renameat2:error=EINVAL"]) func writersGetEachNumberOnce(injection: String?) throws {
    let place = try Place()
    let tracer = injection.map { ["strace", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=\($0)"] } ?? []
    let writers = ["a", "b", "c", "d"]
    let children = writers.map { Child(tracer + [program("EngineProbe"), place.root, "append", $0, "40"]) }
    let answers = children.map { $0.lines() }
    for child in children { child.wait() }
    let lines = try place.lines()
    #expect(lines.count == 160 && answers.allSatisfy { $0.count == 40 })
    // No writer has met a gap, each entry has the number that its writer was told, and those of a writer are in their order.
    for (writer, answers) in zip(writers, answers) {
      #expect(answers == lines.filter { $0.split(separator: " ")[1] == writer }, "\(writer)")
    }
    #expect(place.names(place.unfinished) == [])
  }

  @Test func aKilledWriterLosesNothingAndLeavesNoPartOfAnEntry() throws {
    let place = try Place()
    var acknowledged: [String] = []
    for round in 0..<20 {
      let writers = ["a\(round)", "b\(round)"].map { Child([program("EngineProbe"), place.root, "append", $0, "-"]) }
      acknowledged += writers.compactMap { $0.line() }
      for child in writers {
        child.signal(SIGKILL)
        acknowledged += child.lines()
        child.wait()
      }
    }
    #expect(Set(acknowledged).subtracting(try place.lines()) == [] && acknowledged.count >= 40)
  }

  @Test func killedAtEachSystemCallThereIsAnEntryOrNone() throws {
    for (call, count) in [("openat", 8), ("write", 1), ("fsync", 2), ("renameat2", 1)] {
      for number in 1...count {
        let place = try Place()
        _ = place.probe("append", "a", "1", injecting: "\(call):signal=KILL:when=\(number)")
        let before = try place.lines()
        #expect(before == [] || before == ["0 a 0 1"], "\(call) \(number)")
        // The next writer goes on.
        #expect(place.probe("append", "b", "1") == ["\(before.count) b 0 1"], "\(call) \(number)")
      }
    }
  }

  /// The first fsync is that of the file, the second that of the directory.
  @Test func anErrorOfTheDiskIsReportedAndNothingUnfinishedHasANumber() throws {
    func appending(_ injection: String) throws -> ([String], entries: Int, unfinished: Int) {
      let place = try Place()
      let lines = place.probe("append", "a", "1", injecting: injection)
      return (lines, try place.lines().count, place.names(place.unfinished).count)
    }
    for (injection, answer, entries) in [
      ("write:error=ENOSPC:when=1", "full", 0), ("write:error=EDQUOT:when=1", "full", 0), ("fsync:error=EIO:when=1", "io", 0),
      ("fsync:error=ENOSPC:when=1", "full", 0), ("renameat2:error=EACCES:when=1", "accessDenied", 0),
      ("fsync:error=EIO:when=2", "io", 1),
    ] {
      #expect(try appending(injection) == ([answer], entries, 0), "\(injection)")
    }
  }

  /// An entry that a power loss may take away again is not handed out, and neither is an object acknowledged.
  @Test func readersWaitForTheDiskToo() throws {
    let place = try Place()
    _ = place.probe("append", "a", "1")
    #expect(place.probe("read", injecting: "fsync:error=EIO:when=1") == ["io"])
    #expect(place.probe("put", "1") == ["0"])
    #expect(place.probe("put", "1", injecting: "fsync:error=EIO:when=1") == ["io"])
  }

  @Test(isSuperuser) func aFullDiskLosesNothingAndTheLogGoesOn() throws {
    let place = try Place()
    let probe = "'\(program("EngineProbe"))' \(place.root)/disk"
    let lines = run(
      "unshare", "-m", "sh", "-c",
      """
      mkdir \(place.root)/disk && mount -t tmpfs -o size=1m,mode=700 none \(place.root)/disk || { echo unmounted; exit; }
      \(probe) make; \(probe) append a 3 10
      cat /dev/zero > \(place.root)/disk/filler 2>/dev/null
      \(probe) append b 1 10000; \(probe) put 1; \(probe) read
      ls -A \(place.root)/disk/coffer/1/*/new | wc -l
      rm \(place.root)/disk/filler
      \(probe) append b 1 10000; \(probe) read
      """)
    guard lines != ["unmounted"] else { return print("engine: tmpfs cannot be mounted here") }
    #expect(lines == ["0 a 0 10", "1 a 1 10", "2 a 2 10", "full", "full", "3", "0", "3 b 0 10000", "4"])
  }

  /// The probe under a name that other users can run.
  private func shared(_ place: Place) -> String {
    let copy = "\(place.root)/probe"
    run("sh", "-c", "cp '\(program("EngineProbe"))' '\(copy)' && chmod 755 '\(copy)' '\(place.root)'")
    return copy
  }

  private func user(_ number: Int) -> [String] {
    ["sh", "-c", "umask 077; exec \"$@\"", "sh", "setpriv", "--reuid=\(number)", "--regid=54300", "--clear-groups"]
  }

  @Test(isSuperuser) func usersOfOneGroupReadTheEntriesOfEachOther() throws {
    let place = try Place()
    let probe = shared(place)
    let directory = "\(place.root)/team"
    run("sh", "-c", "mkdir '\(directory)' && chgrp 54300 '\(directory)' && chmod 2770 '\(directory)'")
    #expect(run(user(54321) + [probe, directory, "make"]) == [])
    #expect(run(user(54321) + [probe, directory, "append", "a", "1"]) == ["0 a 0 1"])
    #expect(run(user(54322) + [probe, directory, "append", "b", "1"]) == ["1 b 0 1"])
    #expect(run(user(54321) + [probe, directory, "read"]) == ["2"])
    #expect(run(user(54322) + [probe, directory, "put", "1"]) == ["0"])
    #expect(run(user(54321) + [probe, directory, "put", "1"]) == ["0"])
    let modes = run("sh", "-c", "find '\(directory)' -printf '%y %m %G\\n' | sort | uniq -c | sed 's/^ *//'")
    #expect(modes == ["7 d 2770 54300", "3 f 440 54300"])
    // Another user.
    #expect(run(["setpriv", "--reuid=54399", "--regid=54399", "--clear-groups", probe, directory, "read"]) == ["accessDenied"])
  }

  @Test(isSuperuser) func aDirectoryOfAnotherUserCanBeReadIfItIsOpen() throws {
    let place = try Place()
    let probe = shared(place)
    let tree = "\(place.root)/coffer"
    _ = place.probe("append", "a", "2")
    run("sh", "-c", "find '\(tree)' -type d -exec chmod 755 {} +; find '\(tree)' -type f -exec chmod 444 {} +")
    #expect(run(user(54321) + [probe, place.root, "read"]) == ["2"])
    #expect(run(user(54321) + [probe, place.root, "append", "b", "1"]) == ["accessDenied"])
    // An entry that cannot be read is an error: a device that took it for none would part from the others.
    run("chmod", "600", place.file(1))
    #expect(run(user(54321) + [probe, place.root, "read"]) == ["accessDenied"])
    #expect(try place.lines().count == 2)
  }
}
