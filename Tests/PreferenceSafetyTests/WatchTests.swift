import Children
import CofferPreferences
import CofferPropertyLists
import Glibc
import Testing

/// The thread that notifies observers, and the work at the end of a process.
@Suite struct WatchTests {
  private func observer(_ place: Place, under tracer: [String] = []) -> Child {
    let child = place.writer(under: tracer)
    #expect(child.ask("observe") == "ok")
    #expect(child.ask("watch") == "ok")
    return child
  }

  @Test func aChangeOfAnotherProcessIsTold() {
    let place = Place()
    let observer = observer(place)
    #expect(place.write("set a 1") == ["ok"])
    #expect(observer.line() == "changed a")
    #expect(place.write("set a 1", "remove a") == ["ok", "ok"])
    #expect(observer.line() == "changed a")
    #expect(observer.ask("get a") == "nil")
  }

  @Test func alsoWhereTheDirectoryWasDeletedAndMadeAgain() {
    let place = Place()
    let observer = observer(place)
    #expect(place.write("set a 1") == ["ok"])
    #expect(observer.line() == "changed a")
    run("rm", "-rf", place.path)
    usleep(300_000)
    #expect(place.write("set b 2") == ["ok"])
    var told = ""
    while told != "changed b", let line = observer.line() { told = line }
    #expect(told == "changed b")
    #expect(observer.ask("get b") == "2")
  }

  // The kernel does not report that a directory was deleted while the process has a file open that was in it.
  @Test func alsoWhereItMissedThatTheDirectoryWasDeletedAndMadeAgain() {
    let place = Place()
    let observer = observer(place)
    #expect(place.write("set a 1") == ["ok"])
    #expect(observer.line() == "changed a")
    observer.signal(SIGSTOP)
    run("rm", "-rf", place.path)
    #expect(place.write("set b 2") == ["ok"])
    observer.signal(SIGCONT)
    var told = ""
    while told != "changed b", let line = observer.line() { told = line }
    // For 341 ms after an event the process looks without another one.
    usleep(1_000_000)
    #expect(place.write("set c 3") == ["ok"])
    while told != "changed c", let line = observer.line() { told = line }
    #expect(told == "changed c")
  }

  @Test func alsoWhereAParentIsMadeWhileItIsLookedFor() throws {
    let place = Place()
    let parent = "\(place.root)/parent"
    let log = "\(place.root)/trace"
    func calls() -> [Substring] { String(decoding: read(log) ?? [], as: UTF8.self).split(separator: "\n") }
    // The first two calls find no directory; the third one is for the parent of the parent.
    let observer = Child([
      "strace", "-f", "-qq", "-o", log, "-e", "trace=inotify_add_watch",
      "-e", "inject=inotify_add_watch:delay_enter=1000000:when=3",
      program("PreferenceWriter"), "waiting", "\(parent)/Preferences", "-",
    ])
    #expect(observer.ask("observe") == "ok")
    #expect(observer.ask("watch") == "ok")
    while calls().count < 2 { usleep(1000) }
    #expect(unsafe mkdir(parent, 0o700) == 0)
    while !calls().contains(where: { $0.hasSuffix(" = 1") || $0.contains(" = 1 ") }) { usleep(1000) }
    let writer = Child([program("PreferenceWriter"), "\(parent)/Preferences", "set a 1"])
    #expect(writer.lines() == ["ok"])
    #expect(observer.line() == "changed a")
  }

  @Test func andWhereTheLockFileWasDeleted() {
    let place = Place()
    let observer = observer(place)
    #expect(place.write("set a 1") == ["ok"])
    #expect(observer.line() == "changed a")
    _ = unsafe unlink(place.lock)
    #expect(place.write("set a 2", "set a 3") == ["ok", "ok"])
    var value = ""
    for _ in 0..<50 where value != "3" {
      usleep(100_000)
      observer.send("get a")
      while let line = observer.line() {
        if line.hasPrefix("changed") { continue }
        value = line
        break
      }
    }
    #expect(value == "3")
  }

  /// No event comes when its descriptors are free again.
  @Test(arguments: [true, false], [true, false]) func alsoIfItCouldNotBeReadForAWhile(isThere: Bool, isReplaced: Bool) {
    let place = Place()
    if isThere { #expect(place.write("set a 1") == ["ok"]) }
    let observer = place.writer("waiting")
    #expect(observer.ask("observe") == "ok")
    #expect(observer.ask("watch") == "ok")
    // The thread has opened its files by then.
    usleep(300_000)
    #expect(observer.ask("descriptors") == "ok")
    if isReplaced { run("rm", "-rf", place.path) }
    #expect(place.write("set a 2", "compact", "set b 2") == ["ok", "ok", "ok"])
    usleep(1_000_000)
    observer.send("descriptors-back")
    var told = ""
    while told != "changed b", let line = observer.line() { told = line }
    #expect(told == "changed b")
  }

  @Test("an edited property list is told") func anEditIsTold() throws {
    let place = Place()
    let observer = observer(place)
    #expect(place.write("set a 1", "checkpoint") == ["ok", "ok"])
    #expect(observer.line() == "changed a")
    var values = try #require(place.values())
    values["edited"] = .string("by hand")
    write(try PropertyList.writeExactly(.dictionary(values)), to: place.plist)
    #expect(observer.line() == "changed edited")
    #expect(observer.ask("get edited") == "by hand")
  }

  @Test func withoutInotifyChangesAreLookedFor() {
    let place = Place()
    let observer = observer(
      place,
      under: ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=inotify_init1", "-e", "inject=inotify_init1:error=EMFILE"])
    #expect(place.write("set a 1") == ["ok"])
    #expect(observer.line() == "changed a")
    #expect(place.write("set a 2") == ["ok"])
    #expect(observer.line() == "changed a")
  }

  @Test func returningFromMainExportsAndSynchronizes() throws {
    let place = Place()
    let log = "\(place.root)/trace"
    let lines = place.write(
      "watch", "set a 1",
      under: ["strace", "-f", "-qq", "-y", "-o", log, "-e", "trace=pwrite64,fdatasync,fsync,rename,exit_group"])
    #expect(lines == ["ok", "ok"])
    #expect(place.values()?["a"] == .string("1"))
    let calls = String(decoding: try #require(read(log)), as: UTF8.self).split(separator: "\n")
    let written = try #require(calls.lastIndex { $0.contains("pwrite64(") && $0.contains(".journal>") })
    #expect(calls[written...].contains { $0.contains("fdatasync(") && $0.contains(".journal>") })
  }

  @Test func aReleasedDomainIsWrittenAsWell() {
    let place = Place()
    #expect(place.write("watch", "other com.example.other 5", "sleep 3000").first == "ok")
    #expect(read("\(place.path)/com.example.other.plist") != nil)
  }
}
