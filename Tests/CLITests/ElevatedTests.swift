import Glibc
import Testing

/// The program with the rights of somebody else.
@Suite struct ElevatedTests {
  /// The user 54321 starts a copy that belongs to `nobody`, whose home directory is another one than any variable says.
  static let script = """
    set -e; chmod 711 .; mkdir -p data/applications; touch data/applications/org.example.Player.desktop; cp "$(command -v coffer)" plain; touch said; chmod 666 said; cp plain raised; chown nobody raised; chmod 4755 raised
    for copy in plain raised; do
      setpriv --reuid 54321 --regid 54321 --clear-groups env XDG_DATA_HOME=$W/data ./$copy vault status 2>&1 | head -1
      setpriv --reuid 54321 --regid 54321 --clear-groups env XDG_DATA_HOME=$W/data ./$copy defaults explain com.example.app key 2>said |
        grep -F '\tapplication\t'
      setpriv --reuid 54321 --regid 54321 --clear-groups env XDG_DATA_HOME=$W/data ./$copy defaults read -app Player 2>&1 || :
    done
    getent passwd nobody | cut -d : -f 6
    """

  @Test(.enabled(if: geteuid() == 0, "only the superuser can act as another user"))
  func theCallerDoesNotChooseTheFiles() throws {
    let workspace = try Workspace()
    let outcome = try workspace.run(script: Self.script)
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 7, "\(outcome.output)")
    let (plain, raised) = ("\(workspace.path)/coffer", "\(lines[6])/.local/share/coffer")
    #expect(lines[0].contains(" \(plain)/vault.coffer:") && lines[1].hasSuffix("\t\(plain)/Preferences/com.example.app.plist"))
    #expect(lines[3].contains(" \(raised)/vault.coffer:") && lines[4].hasSuffix("\t\(raised)/Preferences/com.example.app.plist"))
    #expect(lines[2].contains("org.example.Player") && !lines[5].contains("org.example.Player"))
  }
}
