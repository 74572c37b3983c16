import Children
import CofferPreferences
import CofferPropertyLists
import Glibc
import Testing

/// Changes that people and other programs make to the files while programs use them.
@Suite struct MisuseTests {
  /// Waits until processes verify their files again, which they do every 100 ms.
  private func wait() { usleep(120_000) }

  private func values(of place: Place, _ keys: String...) -> [String] { place.write(keys.map { "get \($0)" }) }

  static let propertyListMisuse: [(name: String, keepsExported: Bool, change: @Sendable (Place) -> Void)] = [
    ("cut off", true, { unsafe truncate($0.plist, 40) }),
    ("emptied", true, { unsafe truncate($0.plist, 0) }),
    ("overwritten", true, { write(Array("not a property list".utf8), to: $0.plist) }),
    ("deleted", false, { _ = unsafe unlink($0.plist) }),
    (
      "made a symbolic link", true,
      { place in
        run("mv", place.plist, "\(place.root)/elsewhere")
        _ = unsafe symlink("\(place.root)/elsewhere", place.plist)
      }
    ),
    (
      "made a directory", true,
      { place in
        unsafe unlink(place.plist)
        unsafe mkdir(place.plist, 0o700)
      }
    ),
    (
      "made a pipe", true,
      { place in
        unsafe unlink(place.plist)
        unsafe mkfifo(place.plist, 0o600)
      }
    ),
  ]

  @Test("a property list that is deleted or spoilt costs nothing that was not saved", arguments: propertyListMisuse.indices)
  func propertyList(index: Int) throws {
    let misuse = Self.propertyListMisuse[index]
    let place = Place()
    let program = place.writer()
    for command in ["set saved 1", "checkpoint", "set unsaved 2"] { #expect(program.ask(command) == "ok") }
    misuse.change(place)
    wait()
    #expect(program.ask("set after 3") == "ok", "\(misuse.name)")
    let saved = misuse.keepsExported ? "1" : "nil"
    #expect(["get saved", "get unsaved", "get after"].map(program.ask) == [saved, "2", "3"], "\(misuse.name)")
    // A path that is not a regular file is not overwritten, and the program gets an error.
    let answer = program.ask("checkpoint")
    #expect(["ok", "symbolicLink", "notAFile"].contains(answer))
    #expect(values(of: place, "saved", "unsaved", "after") == [saved, "2", "3"], "\(misuse.name)")
    if answer == "ok" {
      #expect(place.values()?["after"] == .string("3"))
      let kept = place.names.filter { $0.contains("plist.corrupt-") }
      #expect(kept.count == (misuse.keepsExported ? 1 : 0), "\(misuse.name): \(kept)")
    }
    program.finishInput()
    #expect(program.wait() == 0)
  }

  @Test("without its files a program runs on with its defaults") func allDeleted() throws {
    let place = Place()
    #expect(place.write("set a 1", "checkpoint") == ["ok", "ok"])
    place.clear()
    #expect(place.write("get a", "set b 2", "get b") == ["nil", "ok", "2"])
  }

  static let journalMisuse: [(name: String, change: @Sendable (Place) -> Void)] = [
    ("deleted", { _ = unsafe unlink($0.journal) }),
    ("emptied", { unsafe truncate($0.journal, 0) }),
    ("cut off", { unsafe truncate($0.journal, 100) }),
    ("overwritten", { write([UInt8](repeating: 0x41, count: 5000), to: $0.journal) }),
    (
      "an older one put in its place", { place in run("mv", "\(place.root)/old", place.journal) }
    ),
    (
      "an older one copied over it", { place in write(read("\(place.root)/old") ?? [], to: place.journal) }
    ),
    (
      "deleted with the lock file",
      { place in
        unsafe unlink(place.journal)
        unsafe unlink(place.lock)
      }
    ),
  ]

  @Test(arguments: journalMisuse.indices) func journal(index: Int) throws {
    let misuse = Self.journalMisuse[index]
    let place = Place()
    let program = place.writer()
    for command in ["set saved 0", "set saved 1", "checkpoint", "set unsaved 2"] { #expect(program.ask(command) == "ok") }
    write(read(place.journal) ?? [], to: "\(place.root)/old")
    for command in ["set saved 5", "set late 3"] { #expect(program.ask(command) == "ok") }
    misuse.change(place)
    wait()
    #expect(program.ask("set after 4") == "ok", "\(misuse.name)")
    let all = ["5", "2", "3", "4"]
    #expect(["get saved", "get unsaved", "get late", "get after"].map(program.ask) == all, "\(misuse.name)")
    #expect(values(of: place, "saved", "unsaved", "late", "after") == all, "\(misuse.name)")
    #expect(program.ask("checkpoint") == "ok")
    #expect(values(of: place, "saved", "unsaved", "late", "after") == all, "\(misuse.name)")
  }

  @Test func aDeletedLockFileDoesNotLetTwoWriteAtOnePlace() {
    let place = Place()
    let one = place.writer()
    let two = place.writer()
    for number in 0..<100 {
      #expect(one.ask("set one \(number)") == "ok")
      _ = unsafe unlink(place.lock)
      // At once, before the other process verifies its files.
      #expect(two.ask("set two \(number)") == "ok")
      #expect(one.ask("set three \(number)") == "ok")
      #expect(two.ask("set four \(number)") == "ok")
      #expect(values(of: place, "one", "two", "three", "four") == Array(repeating: "\(number)", count: 4))
    }
  }

  /// Truncating a mapped file ends each process that reads it, as with every program that maps files. No value is lost.
  @Test func aLockFileThatIsCutOffEndsTheProgramButLosesNothing() {
    let place = Place()
    let mapped = place.writer(under: ["env", "SWIFT_BACKTRACE=enable=no"])
    let unmapped = place.writer("unmapped")
    #expect(mapped.ask("set a 1") == "ok")
    #expect(unmapped.ask("set b 2") == "ok")
    unsafe truncate(place.lock, 0)
    let answer = mapped.ask("set c 3")
    #expect(answer == "died" || answer == "ok")
    mapped.finishInput()
    let status = mapped.wait()
    if answer == "died" { #expect(status & 0x7F == SIGBUS, "\(status)") }
    #expect(unmapped.ask("set d 4") == "ok")
    #expect(values(of: place, "a", "b", "c", "d") == ["1", "2", answer == "ok" ? "3" : "nil", "4"])
  }

  @Test func theDirectoryDeletedAndMadeAgain() {
    let place = Place()
    let program = place.writer()
    for command in ["set saved 1", "checkpoint", "set unsaved 2"] { #expect(program.ask(command) == "ok") }
    run("rm", "-rf", place.path)
    wait()
    #expect(program.ask("set after 3") == "ok")
    #expect(values(of: place, "unsaved", "after") == ["2", "3"])
  }

  @Test(isSuperuser) func withoutPermissionValuesStayAndComeToTheDiskLater() {
    let place = Place()
    // As another user than root.
    _ = unsafe chmod(place.root, 0o755)
    _ = unsafe mkdir(place.path, 0o700)
    _ = unsafe chown(place.path, 65534, 65534)
    let program = place.writer(under: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    guard program.ask("set a 1") == "ok" else { return }
    // The files of the process are open, so it can use them.
    _ = unsafe chmod(place.path, 0)
    wait()
    let answer = program.ask("set b 2")
    #expect(["ok", "accessDenied"].contains(answer), "\(answer)")
    #expect(["accessDenied", "ok"].contains(program.ask("keep c 3")))
    #expect(program.ask("get c") == "3")
    #expect(program.ask("checkpoint") == "accessDenied")
    // A new process reads nothing, and reports the reason.
    let other = place.writer(under: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    #expect(other.ask("get a") == "nil")
    #expect(other.ask("problem") == "accessDenied")
    #expect(other.ask("set x 1") == "accessDenied")
    _ = unsafe chmod(place.path, 0o700)
    wait()
    #expect(program.ask("sync") == "ok")
    #expect(other.ask("get a") == "1")
    #expect(other.ask("get c") == "3")
    #expect(other.ask("set x 1") == "ok")
  }

  @Test(isSuperuser) func rootLeavesNoFilesInAnotherUsersDirectory() {
    let place = Place()
    _ = unsafe mkdir(place.path, 0o700)
    _ = unsafe chown(place.path, 65534, 65534)
    #expect(place.write("set a 1", "checkpoint") == ["foreignOwner", "foreignOwner"])
    #expect(place.names == [])
  }

  @Test func aDirectoryThatEverybodyMayWriteToIsNotWritten() {
    let place = Place()
    #expect(place.write("set a 1", "checkpoint") == ["ok", "ok"])
    let names = place.names
    for mode in [0o777, 0o702, 0o2777] as [mode_t] {
      _ = unsafe chmod(place.path, mode)
      #expect(place.write("get a", "set a 2", "get a") == ["1", "permissionsTooOpen", "1"])
    }
    #expect(place.names == names)
    for mode in [0o1777, 0o770, 0o755] as [mode_t] {
      _ = unsafe chmod(place.path, mode)
      #expect(place.write("set a \(mode)", "get a") == ["ok", "\(mode)"])
    }
  }

  @Test(isSuperuser) func onAReadOnlyFileSystemValuesAreRead() {
    let place = Place()
    #expect(place.write("set a 1", "checkpoint", "set b 2") == ["ok", "ok", "ok"])
    let lines = run(
      "unshare", "-m", "sh", "-c",
      """
      mount --bind \(place.path) \(place.path) && mount -o remount,bind,ro \(place.path) || exit
      '\(program("PreferenceWriter"))' \(place.path) 'get a' 'get b' 'set c 3' 'keep c 3' 'get c' problem sync
      """)
    #expect(lines == ["1", "2", "readOnly", "readOnly", "3", "ok", "readOnly"])
  }

  @Test(arguments: ["0000", "0777"]) func underAnyUmask(mask: String) throws {
    let place = Place()
    let lines = run("sh", "-c", "umask \(mask); '\(program("PreferenceWriter"))' \(place.path) 'set a 1' checkpoint compact")
    #expect(lines == ["ok", "ok", "ok"])
    var status = stat()
    for name in place.names {
      #expect(unsafe stat("\(place.path)/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600, "\(name)")
    }
    #expect(unsafe stat(place.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test func withoutDescriptorsNothingIsWrongForLong() {
    let place = Place()
    #expect(place.write("set a 1") == ["ok"])
    // A new domain cannot be opened without free descriptors.
    let program = place.writer()
    #expect(program.ask("descriptors") == "ok")
    // This domain is open, and works.
    #expect(program.ask("set b 2") == "ok" && program.ask("get b") == "2")
    #expect(place.write("compact", "set c 3") == ["ok", "ok"])
    _ = program.ask("get c")
    #expect(["descriptorsExhausted", "ok"].contains(program.ask("checkpoint")))
    #expect(program.ask("descriptors-back") == "ok")
    usleep(50_000)
    #expect(["get a", "get b", "get c"].map(program.ask) == ["1", "2", "3"])
    #expect(program.ask("checkpoint") == "ok")
  }

  @Test func aStoppedProcessDoesNotBlockOthersForLong() throws {
    let place = Place()
    #expect(place.write("set a 1") == ["ok"])
    // A process that holds the lock and does not release it.
    let holder = OpenLock(place.lock)
    let program = place.writer("timeout", "300")
    #expect(program.ask("get a") == "1")
    let start = time(nil)
    #expect(program.ask("set b 2") == "busy")
    #expect(program.ask("get a") == "1")
    #expect(program.ask("keep b 2") == "busy")
    #expect(program.ask("get b") == "2")
    #expect(time(nil) - start < 5)
    holder.release()
    #expect(program.ask("sync") == "ok")
    #expect(values(of: place, "b") == ["2"])
  }

  @Test(isSuperuser) func withoutABootIdentifier() {
    let place = Place()
    #expect(place.write("set a 1") == ["ok"])
    let lines = run(
      "unshare", "-m", "sh", "-c",
      "mount -t tmpfs none /proc/sys/kernel/random || exit; '\(program("PreferenceWriter"))' \(place.path) 'get a' 'set b 2' checkpoint 'get b'"
    )
    #expect(lines == ["1", "ok", "ok", "2"])
    #expect(values(of: place, "a", "b") == ["1", "2"])
  }

  @Test func withoutMappings() {
    let place = Place()
    let program = place.writer()
    // Mapping the shared file fails.
    let other = place.write(
      "set a 1", "get b",
      under: ["strace", "-qq", "-o", "/dev/null", "-P", place.lock, "-e", "trace=mmap", "-e", "inject=mmap:error=ENODEV"])
    #expect(other == ["ok", "nil"])
    #expect(program.ask("get a") == "1")
  }
}

/// The lock of a domain, held as by a stopped process.
final class OpenLock {
  private let file: Int32

  init(_ path: String) {
    file = unsafe open(path, O_RDWR | O_CLOEXEC)
    precondition(flock(file, LOCK_EX | LOCK_NB) == 0)
  }

  func release() { close(file) }
}
