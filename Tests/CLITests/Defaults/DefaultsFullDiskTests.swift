import Glibc
import Testing

/// The errors of `defaults` on a full disk, in a mount namespace of its own.
@Suite struct DefaultsFullDiskTests {
  @Test("what was stored is not said to be unchanged, because the property list has no room")
  func stored() throws {
    let workspace = try Workspace()
    guard try workspace.run(script: "mkdir disk && unshare -Urm mount -t tmpfs none disk").status == 0 else {
      return print("defaults: no file system can be mounted here: what is said on a full disk was not tested")
    }
    let outcome = try workspace.run(
      script: """
        export COFFER_HOME=$W/disk
        unshare -Urm sh -c 'mount -t tmpfs -o size=96k,mode=700 none disk && coffer defaults write com.example.app a 1 || exit
        (cat /dev/zero >disk/filler) 2>/dev/null
        coffer defaults write com.example.app b 2; echo $?
        coffer defaults read com.example.app b; grep -c "<key>b" disk/Preferences/com.example.app.plist
        coffer defaults write com.example.app c "$(head -c 50000 /dev/zero | tr "\\\\0" x)"; echo $?
        coffer defaults read com.example.app c'
        """)
    #expect(outcome.output == "0\n2\n0\n1\n", "\(outcome)")
    let lines = outcome.errors.split(separator: "\n").map(String.init)
    try #require(lines.count == 5, "\(lines)")
    #expect(lines[0] == "defaults: warning: stored, but not in the property list")
    #expect(lines[1].hasPrefix("defaults: com.example.app: no room on the disk ("))
    // Here nothing was stored.
    #expect(lines[2].hasPrefix("defaults: com.example.app: no room on the disk ("))
    #expect(lines[3] == "hint: make room and try again")
    #expect(!outcome.errors.contains("nothing has been changed"))
  }
}
