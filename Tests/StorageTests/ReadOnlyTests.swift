import Children
import CofferStorage
import Testing
import VaultCore

@Suite struct ReadOnlyTests {
  private func onReadOnlyMount(_ fixture: Fixture, _ command: String) -> [String] {
    runInMountNamespace(
      "mount --bind \(fixture.directory) \(fixture.directory) && mount -o remount,ro,bind \(fixture.directory) && \(probe) \(command)"
    )
  }

  @Test func readOnlyFileSystem() throws {
    let fixture = try Fixture()
    // Once as it is made, and once with the mark of a log in its header, as it is after a commit.
    for count in 3...4 {
      #expect(onReadOnlyMount(fixture, "read \(fixture.path)") == ["ok \(count)"])
      #expect(onReadOnlyMount(fixture, "add \(fixture.path)").first == "readOnly")
      #expect(onReadOnlyMount(fixture, "create \(fixture.directory)/new").first == "readOnly")
      try FileStore(at: fixture.path).commit { _ in Fixture.adding(4) }
    }
    #expect(fixture.names == ["vault.coffer", "vault.coffer.lock"])
  }

  @Test(isSuperuser) func aPathWithEveryKindOfCharacter() throws {
    // For reading where nothing can be written the path goes to SQLite within a URI.
    let fixture = try Fixture()
    let directory = "\(fixture.directory)/a ?mode=rw&%41#é"
    run("mkdir", directory)
    run("mv", fixture.path, directory)
    #expect(try FileStore(at: "\(directory)/vault.coffer").recordCount() == 3)
    run("chown", "-R", "65534", fixture.directory)
    run("chmod", "500", directory)
    #expect(run(probe, "as", "65534", "read", "\(directory)/vault.coffer") == ["ok 3"])
  }

  @Test(isSuperuser) func aReaderWithoutRightsSeesWhatOthersWrite() throws {
    let fixture = try Fixture()
    run("chmod", "755", fixture.directory)
    run("chmod", "644", fixture.path)
    let reader = Child([probe, "as", "65534", "read-lines", fixture.path])
    #expect(reader.line() == "ok 3")
    try FileStore(at: fixture.path).commit { _ in Fixture.adding(4) }
    reader.signal(10)
    #expect(reader.line() == "ok 4")
  }

  @Test(arguments: ["bulk", "add-with-journal"]) func changesInTheLogAreNotPassedOver(command: String) throws {
    let fixture = try Fixture()
    if command == "bulk" {
      let child = Child([probe, "bulk", fixture.path])
      #expect(child.line() == "ok")
      run("sleep", "0.1")
      child.signal(9)
      _ = child.wait()
      #expect(fixture.names.contains("vault.coffer-wal"))
    } else {
      run(
        "strace", "-qq", "-o", "/dev/null", "-e", "trace=unlink", "-e", "inject=unlink:signal=KILL:when=1", probe, command,
        fixture.path)
      #expect(fixture.names.contains("vault.coffer-journal"))
    }
    #expect(onReadOnlyMount(fixture, "read \(fixture.path)").first == "readOnly")
    #expect(try FileStore(at: fixture.path).recordCount() >= 3)
    #expect(onReadOnlyMount(fixture, "read \(fixture.path)").first?.hasPrefix("ok") == true)
  }

  @Test(isSuperuser) func aDirectoryOfAnotherUserWithoutRights() throws {
    let fixture = try Fixture()
    run("sh", "-c", "chown -R 65534 \(fixture.directory); chmod 500 \(fixture.directory)")
    #expect(run(probe, "as", "65534", "read", fixture.path) == ["ok 3"])
    #expect(run(probe, "as", "65534", "add", fixture.path).first == "readOnly")
    run("sh", "-c", "chmod 700 \(fixture.directory); chmod 400 \(fixture.path)")
    #expect(run(probe, "as", "65534", "read", fixture.path) == ["ok 3"])
    #expect(run(probe, "as", "65534", "add", fixture.path).first == "readOnly")
    run("chmod", "600", fixture.path)
    #expect(run(probe, "as", "65534", "add", fixture.path) == ["ok"])
  }

  @Test func fullDisk() throws {
    let fixture = try Fixture()
    let directory = fixture.directory
    let lines = runInMountNamespace(
      """
      mkdir \(directory)/small && mount -t tmpfs -o size=700k,mode=700 none \(directory)/small && \
      cp -p \(fixture.path) \(directory)/small/v && \(probe) fill \(directory)/small/v && ls -A \(directory)/small
      """)
    #expect(lines.first == "full")
    #expect(lines.dropFirst().first == "ok true")
    #expect(lines.contains("ok removed"))
    // Acknowledged changes are still there, and no incomplete files are.
    #expect(lines.filter { $0.hasPrefix("ok") } == ["ok true", "ok removed", "ok true"])
    #expect(!lines.contains { $0.hasSuffix(".new") })
  }

  /// There is no room for what SQLite puts beside the file when it opens it. In the second round a killed process has left a log.
  @Test(arguments: [false, true]) func fullDiskAtOpening(withLog: Bool) throws {
    let fixture = try Fixture()
    let directory = fixture.directory
    let leaveLog = "mkfifo f; \(probe) add-and-hold $PWD/v > f & read line < f; kill -9 $!; wait; test -s v-wal && rm v-shm"
    let lines = runInMountNamespace(
      """
      mkdir \(directory)/small && mount -t tmpfs -o size=2m,mode=700 none \(directory)/small && cd \(directory)/small && \
      cp -p \(fixture.path) v && \(probe) add $PWD/v; \(withLog ? leaveLog : "true") || echo no log; \
      dd if=/dev/zero of=filler bs=4096 status=none 2>/dev/null; \
      for command in \(withLog ? "" : "read add-large") read remove read; do \(probe) $command $PWD/v | head -n 1; done
      """)
    #expect(lines == (withLog ? ["ok", "ok 6", "ok", "ok 5"] : ["ok", "ok 4", "full", "ok 4", "ok", "ok 3"]))
  }

  @Test func fullDiskAtCreation() throws {
    let fixture = try Fixture()
    let directory = fixture.directory
    let lines = runInMountNamespace(
      """
      mkdir \(directory)/small && mount -t tmpfs -o size=8k,mode=700 none \(directory)/small && \
      \(probe) create \(directory)/small/v; ls -A \(directory)/small
      """)
    #expect(lines.first == "full")
    #expect(lines.last == "v.lock")
  }
}
