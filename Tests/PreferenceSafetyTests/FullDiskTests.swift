import Children
import CofferPreferences
import CofferPropertyLists
import Glibc
import Testing

/// A full disk. The file systems are mounted in a namespace of the test.
@Suite(.serialized) struct FullDiskTests {
  /// Fills the disk, writes, makes room, writes again. Returns the answers to the commands, and finally the values that a new
  /// process reads.
  private func script(_ mount: String, _ place: Place) -> [String] {
    let writer = "'\(program("PreferenceWriter"))' \(place.root)/disk/Preferences"
    let lines = """
      mkdir \(place.root)/disk && \(mount) || { echo unmounted; exit; }
      \(writer) 'fill k 50' 'set a old' checkpoint >/dev/null
      (
        echo 'set b acknowledged'; sleep 0.3
        cat /dev/zero > \(place.root)/disk/filler 2>/dev/null
        echo 'big large 300000'; echo 'big large 100000'
        echo 'keep large-kept \(String(repeating: "y", count: 60_000))'
        echo 'checkpoint'; echo 'sync'; echo 'get a'; echo 'get b'; echo 'keep a'; echo 'get a'
        sleep 0.3
        rm \(place.root)/disk/filler
        echo 'sync'; echo 'get a'; echo 'checkpoint'
      ) | \(writer) -
      echo "plist $(grep -c '<key>k-' \(place.root)/disk/Preferences/com.example.app.plist)"
      \(writer) 'get a' 'get b' 'get k-49' 'get large' 'get large-kept' | cut -c1-20
      ls -A \(place.root)/disk/Preferences | grep -c -e corrupt -e '\\.new$'
      """
    return run("unshare", "-m", "sh", "-c", lines)
  }

  @Test(isSuperuser, arguments: ["tmpfs", "ext4"]) func everyAcknowledgedValueIsKept(kind: String) throws {
    let place = Place()
    let mount =
      kind == "tmpfs"
      ? "mount -t tmpfs -o size=2m,mode=700 none \(place.root)/disk"
      : "truncate -s 4M \(place.root)/image && mkfs.ext4 -q -m 0 \(place.root)/image && mount -o loop \(place.root)/image \(place.root)/disk"
    let lines = script(mount, place)
    guard lines != ["unmounted"] else { return print("preferences: \(kind) cannot be mounted here") }
    try #require(lines.count == 20, "\(lines)")
    #expect(lines[0] == "ok")
    #expect(lines[1] == "full")
    // The blocks that the failed write released may suffice for this one.
    #expect(lines[2] == "full" || lines[2] == "ok")
    // Kept in memory, and reported; ext4 finds a block or two after a while.
    for answer in lines[3...5] { #expect(answer == "full" || kind == "ext4" && answer == "ok", "\(lines)") }
    #expect(lines[6] == "old" && lines[7] == "acknowledged")
    // Removing a value works, at least in this process until there is room.
    #expect(lines[8] == "ok" || lines[8] == "full")
    #expect(lines[9] == "nil")
    #expect(lines[10...12] == ["ok", "nil", "ok"])
    #expect(lines[13] == "plist 50")
    #expect(
      Array(lines[14...18]) == [
        "nil", "acknowledged", "49", lines[2] == "ok" ? String(repeating: "x", count: 20) : "nil",
        String(repeating: "y", count: 20),
      ])
    #expect(lines[19] == "0")
  }

  /// The property list is complete at every moment, even if it cannot be written.
  @Test(isSuperuser) func thePropertyListIsNeverCutOff() {
    let place = Place()
    let writer = "'\(program("PreferenceWriter"))' \(place.root)/disk/Preferences"
    let lines = run(
      "unshare", "-m", "sh", "-c",
      """
      mkdir \(place.root)/disk && mount -t tmpfs -o size=1m,mode=700 none \(place.root)/disk || exit
      \(writer) 'fill k 100' checkpoint >/dev/null
      (cat /dev/zero > \(place.root)/disk/filler) 2>/dev/null
      \(writer) 'big a 200000' 'big b 2000' checkpoint compact 'set c 1' checkpoint >/dev/null
      grep -c '<key>k-' \(place.root)/disk/Preferences/com.example.app.plist; tail -n 1 \(place.root)/disk/Preferences/com.example.app.plist
      """)
    #expect(lines == ["100", "</plist>"])
  }

  /// The control.
  @Test(isSuperuser) func foundationCutsItsFile() {
    let place = Place()
    let writer = "env HOME=\(place.root)/disk XDG_CONFIG_HOME=\(place.root)/disk '\(program("FoundationWriter"))'"
    let lines = run(
      "unshare", "-m", "sh", "-c",
      """
      mkdir \(place.root)/disk && mount -t tmpfs -o size=1m,mode=700 none \(place.root)/disk || exit
      \(writer) 'fill k 10' >/dev/null
      (cat /dev/zero > \(place.root)/disk/filler) 2>/dev/null
      \(writer) 'big a 200000' >/dev/null 2>&1
      \(writer) 'set check 1' >/dev/null 2>&1
      find \(place.root)/disk -name 'com.example.app.plist' -exec cat {} + | grep -a -c 'k-9'
      """)
    #expect(lines == ["0"])
  }
}
