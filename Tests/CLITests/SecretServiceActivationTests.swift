import Testing

/// `coffer bus`, on a message bus of the test's own.
@Suite struct SecretServiceActivationTests {
  private static let file = "home/.local/share/dbus-1/services/org.freedesktop.secrets.service"
  private static let vault = "coffer vault init --key-file key --no-passphrase; coffer vault unlock --key-file key"
  /// Without paths and numbers.
  private static let status = "coffer bus status | sed 's|\t[^\t]*/|\t|; s|process .*|process N|'"

  @Test func theBusStartsItForTheFirstProgramThatAsks() throws {
    let output = try SecretServiceTests.output(
      """
      \(Self.vault)
      \(Self.status); coffer bus disable; coffer bus enable; coffer bus enable; \(Self.status)
      printf hello | secret-tool store --label=L a b; secret-tool lookup a b; echo
      \(Self.status); secrets=$(coffer bus status --json | grep -o '"process":[0-9]*' | cut -d : -f 2)
      coffer bus disable 2>&1 | sed "s/$secrets/N/"; ls home/.local/share/dbus-1; \(Self.status); kill $secrets
      until coffer bus status | grep -q none; do sleep 0.05; done
      coffer agent stop; kill $bus; wait
      """)
    #expect(
      output == """
        activation\tdisabled
        served by\tnone
        note: it is not enabled
        activation\tenabled
        served by\tnone
        hello
        activation\tenabled
        served by\tcoffer-secrets, process N
        note: coffer-secrets runs until it is ended: kill N
        activation\tdisabled
        served by\tcoffer-secrets, process N

        """, "\(output)")
  }

  @Test func aFileOfAnotherProgramStays() throws {
    let output = try SecretServiceTests.output(
      """
      mkdir -p home/.local/share/dbus-1/services; echo other >\(Self.file)
      coffer bus enable 2>/dev/null; echo $?; coffer bus disable 2>/dev/null; echo $?; cat \(Self.file); coffer bus status | head -n 1
      rm \(Self.file); coffer bus enable; sed -i 's|^Exec=|Exec=/elsewhere|' \(Self.file); coffer bus status | head -n 1
      coffer bus enable; coffer bus status | head -n 1; kill $bus; wait
      DBUS_SESSION_BUS_ADDRESS=unix:path=$W/none; coffer bus status; coffer bus disable; coffer bus status --json | sed "s|$W|W|"
      mkdir 'a b'; cp "$(command -v coffer)" "$(command -v coffer-secrets)" 'a b'; 'a b/coffer' bus enable 2>/dev/null; echo $?
      rm 'a b/coffer-secrets'; 'a b/coffer' bus enable; echo $?
      """)
    #expect(
      output == """
        4
        4
        other
        activation\tanother program's file
        activation\tenabled for another installation
        activation\tenabled
        activation\tenabled
        served by\tno bus
        note: the message bus of the session does not answer: it reads the file when it starts
        {"activation":"disabled","file":"W/\(Self.file)","hasBus":false,"owner":null}
        1
        coffer: coffer-secrets is missing
        hint: install Coffer again
        1

        """, "\(output)")
  }

  /// gnome-keyring never gives the name away, so the owner is told how it is turned off.
  @Test func gnomeKeyringIsNamed() throws {
    let output = try SecretServiceTests.output(
      """
      mkdir runtime; XDG_RUNTIME_DIR=$W/runtime gnome-keyring-daemon --foreground --components=secrets </dev/null >/dev/null 2>&1 & peer=$!
      until coffer bus status | grep -q "process $peer$"; do sleep 0.05; done
      coffer bus enable 2>&1 | sed "s/$peer/N/; s|note: [^ ]*/|note: |; s/gnome-keyring-[daemon]*,/gnome-keyring,/"
      coffer-secrets --replace >told 2>&1; echo $?; grep -c "process $peer, serves org.freedesktop.secrets" told
      kill $peer $bus; wait
      """)
    #expect(
      output == """
        note: gnome-keyring, process N, serves until it ends
        note: gnome-keyring starts with the session, unless both are turned off:
          systemctl --user mask --now gnome-keyring-daemon.service gnome-keyring-daemon.socket
          mkdir -p ~/.config/autostart; printf '[Desktop Entry]\\nHidden=true\\n' >~/.config/autostart/gnome-keyring-secrets.desktop
        12
        1

        """, "\(output)")
  }
}
