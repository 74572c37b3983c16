import Glibc
import Testing

/// `coffer-secrets` on a message bus of the test's own, with the clients of Debian.
@Suite struct SecretServiceTests {
  static let clients =
    TranscriptTests.directory.dropLast("CLITests/Transcripts".utf8.count) + "Support/SecretClients/clients.py"

  /// Starts a bus, and defines commands. The bus takes the home directory from the database of users, so it needs `XDG_DATA_HOME`.
  static let begin = """
    exec 2>&1
    export DBUS_SESSION_BUS_ADDRESS=unix:path=$W/bus; unset DISPLAY WAYLAND_DISPLAY
    export XDG_DATA_HOME=$HOME/.local/share
    # With this the daemon starts no other program for the name, such as gnome-keyring, when a service is killed.
    cat >bus.conf <<CONFIGURATION
    <busconfig><type>session</type><listen>$DBUS_SESSION_BUS_ADDRESS</listen><auth>EXTERNAL</auth>
    <servicedir>$XDG_DATA_HOME/dbus-1/services</servicedir>
    $(grep '<limit' /usr/share/dbus-1/session.conf)
    <policy context="default"><allow user="*"/><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
    CONFIGURATION
    dbus-daemon ${configuration:---session} --nofork --nopidfile --print-address=1 --address=$DBUS_SESSION_BUS_ADDRESS </dev/null >address 2>&1 & bus=$!
    until [ -s address ]; do sleep 0.05; done
    client() { /usr/bin/python3 \(clients) "$@" </dev/null || echo "failed: $1"; }
    secrets() { mkfifo ready; "${1:-coffer-secrets}" --ready-fd 3 3>ready >>secrets.log 2>&1 & secrets=$!; read -r line <ready; rm ready; }
    umask 077; head -c 32 /dev/urandom >key
    printf 'a passphrase of the test 123' >words
    end() { kill $secrets; coffer agent stop; kill $bus; wait; cat secrets.log; }
    """

  static func output(_ script: String, configuration: String = "") throws -> String {
    try Workspace().run(script: "configuration=\(configuration)\n" + begin + "\n" + script).output
  }

  static let unlocked = """
    coffer vault init --key-file key --no-passphrase; coffer vault unlock --key-file key; secrets
    """

  @Test(arguments: [
    "secretstorage_client", "keyring_client", "libsecret_client", "attributes", "paths", "sessions", "hostile", "changes",
    "fuzzed", "many", "unread", "hoarded", "temporary", "twins", "crowded", "unknown", "senders", "elements", "limits", "ordered",
    "threads", "paused", "left_out", "kept_by_the_owner", "replaced_at_once", "in_turn",
  ])
  func clientsGetWhatTheyExpect(client: String) throws {
    let output = try Self.output("\(Self.unlocked)\nclient \(client); end")
    #expect(output == "good\n", "\(output)")
  }

  /// libsecret sends a call for each item that it has found, all at once.
  @Test func manyItemsAreAskedForAtOnce() throws {
    let output = try Self.output(
      """
      \(Self.unlocked)
      client same_items; secret-tool search --all user ada 2>/dev/null | grep -c '^secret = '
      secret-tool clear user ada; echo $?; secret-tool search --all user ada 2>/dev/null | grep -c '^secret = '; end
      """)
    #expect(output == "good\n150\n0\n0\n", "\(output)")
  }

  @Test func itemsWithoutACollectionAreNoObjects() throws {
    let output = try Self.output(
      """
      \(Self.unlocked)
      client two_collections; secret-tool lookup w 1; echo; coffer group rename secret-service/Work secret-service/Job --key-file key
      secret-tool lookup w 1; echo; secret-tool clear w 1; echo $?; secret-tool lookup w 1; echo $?
      coffer secret list --group secret-service/Job | wc -l
      client removed_meanwhile; coffer secret list --json | grep -c 'secret-service/C'; end
      """)
    #expect(output == "good\nwork\nlogin\n0\n1\n1\ngood\n0\n", "\(output)")
  }

  @Test func secretToolStoresFindsAndClears() throws {
    let output = try Self.output(
      """
      \(Self.unlocked)
      printf hello | secret-tool store --label=L a b; secret-tool lookup a b; echo " $?"
      printf again | secret-tool store --label=L a b; secret-tool lookup a b; echo " $?"
      secret-tool lookup a c; echo "absent $?"
      coffer secret list --group secret-service/login | wc -l
      coffer vault lock; secret-tool lookup a b; echo " $?"; secret-tool lookup a c; echo "absent $?"
      printf locked | secret-tool store --label=L q r; secret-tool lookup q r; echo " $?"
      secret-tool clear a b; secret-tool lookup a b; echo "cleared $?"
      client marked; end
      """)
    #expect(
      output == "hello 0\nagain 0\nabsent 1\n1\nagain 0\nabsent 1\nlocked 0\ncleared 1\ngood\n", "\(output)")
  }

  @Test func aCollectionIsThereAsSoonAsTheVaultIsUnlocked() throws {
    let output = try Self.output(
      "\(Self.unlocked)\nclient made_before; coffer agent stop; kill $secrets; wait $secrets 2>/dev/null; secrets; client found_at_once; end"
    )
    #expect(output == "good\ngood\n", "\(output)")
  }

  /// A bus may let another user in. A directory of the test does not.
  @Test(.enabled(if: getuid() == 0, "only root has a program of another user")) func aProgramOfAnotherUserIsRefused() throws {
    let output = try Self.output(
      """
      \(Self.unlocked)
      chmod 711 $W; setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3 - of_another_user <\(Self.clients); end
      """, configuration: "--config-file=bus.conf")
    #expect(output == "good\n", "\(output)")
  }

  @Test func withoutAPersonALockedKeyringIsAnErrorAtOnce() throws {
    let output = try Self.output(
      """
      coffer vault init --key-file key --no-passphrase; secrets
      client unheard; client session_while_locked; secret-tool lookup a b; echo $?
      coffer vault unlock --key-file key; coffer agent stop; client unheard
      mkfifo begun; cofferd --ready-fd 3 3>begun & read -r line <begun; client unheard; coffer agent stop
      kill $secrets $bus; wait
      """)
    #expect(output == "good\ngood\nsecret-tool: The keyring is locked\n1\ngood\ngood\n", "\(output)")
  }

  /// A program in the place of pinentry, which answers as the file `answer` says. It gets few variables, `HOME` among them.
  private static let owner = """
    export DISPLAY=:none COFFER_PINENTRY=$W/pinentry
    printf '%s\\n' '#!/bin/sh' 'echo OK' 'while read -r line; do case $line in GETPIN*) echo asked >>$HOME/asked; cat $HOME/answer;;' \
      'BYE*) echo OK; exit;;' '*) echo OK;; esac; done' >pinentry; chmod 700 pinentry; : >home/asked
    coffer vault init --passphrase-fd 3 3<words >/dev/null
    printf 'D a passphrase of the test 123\\nOK\\n' >home/answer
    """

  /// One that answers when the file `go` is there, and begins a vault with the passphrase.
  static let slowOwner = """
    export DISPLAY=:none COFFER_PINENTRY=$W/pinentry
    cat >pinentry <<'END'
    #!/bin/sh
    echo OK
    while read -r line; do case $line in
      GETPIN*) echo asked >>"$HOME/asked"; until [ -e "${0%/*}/go" ] || [ ! -d "${0%/*}" ]; do sleep 0.05; done; echo 'D a passphrase of the test 123'; echo OK;;
      BYE*) echo OK; exit;;
      *) echo OK;;
    esac; done
    END
    chmod 700 pinentry; coffer vault init --passphrase-fd 3 3<words >/dev/null
    """

  @Test func callsThatWaitForTheOwnerAreAnswered() throws {
    let output = try Self.output("\(Self.slowOwner)\nsecrets; client awaited home/asked; end")
    #expect(output == "good\n", "\(output)")
  }

  /// The file `go`, without which the window stays, is never made.
  @Test func aSearchThatWaitsForTheOwnerHasAnEnd() throws {
    let output = try Self.output("\(Self.slowOwner)\nsecrets; client expired; touch go; kill $secrets $bus; wait")
    #expect(output == "good\n", "\(output)")
  }

  @Test func anItemOfAnotherDeviceIsLeftOut() throws {
    let output = try Self.output(
      """
      coffer vault init --key-file key --no-passphrase; coffer vault unlock --key-file key; secrets
      printf 2 | coffer secret set --group secret-service/login --create-group item/other --accessible after-first-unlock-this-device \
        >said 2>&1 || cat said
      coffer agent stop; rm coffer/state/device-*; coffer vault unlock --key-file key; client of_another_device; end
      """)
    #expect(output == "good\n", "\(output)")
  }

  @Test func theOwnerUnlocksInAWindow() throws {
    let output = try Self.output(
      """
      \(Self.owner)
      secrets; client prompted; coffer agent stop; client searched; wc -l <home/asked
      printf x | secret-tool store --label=L a b; secret-tool lookup a b; echo
      client unlocked_again; wc -l <home/asked; end
      """)
    #expect(output == "good\ngood\n2\nx\ngood\n3\n", "\(output)")
  }

  @Test func aProgramHasFewPrompts() throws {
    let output = try Self.output("\(Self.owner)\nsecrets; client prompts; kill $secrets $bus; wait")
    #expect(output == "good\n", "\(output)")
  }

  @Test func aRefusalIsAResultAndHoldsForAMinute() throws {
    let output = try Self.output(
      """
      \(Self.owner)
      echo 'ERR 83886179 Operation cancelled' >home/answer
      secrets; client dismissed; wc -l <home/asked; kill $secrets; coffer agent stop >/dev/null 2>&1; kill $bus; wait
      """)
    #expect(output == "good\n1\n", "\(output)")
  }

  @Test func aNameThatIsTakenStays() throws {
    let output = try Self.output(
      """
      \(Self.unlocked)
      second() { coffer-secrets "$@" >told 2>&1; code=$?; sed "s|: [^ ]*/coffer-secrets, process $secrets,|: PROGRAM|" told; echo $code; }
      second; second --replace; second --ready-fd x; second --no; second --owner --replace; second --provider
      kill $bus; wait $secrets; echo $?; coffer agent stop
      """)
    let taken =
      "coffer-secrets: PROGRAM serves org.freedesktop.secrets\n"
    #expect(
      output == taken + "12\n" + taken + "12\n"
        + "coffer-secrets: --ready-fd: takes the number of an open descriptor\n2\n"
        + "coffer-secrets: usage: coffer-secrets [--replace] [--ready-fd N] | --owner | --reload | --provider\n2\n"
        + "coffer-secrets: usage: coffer-secrets [--replace] [--ready-fd N] | --owner | --reload | --provider\n2\n"
        + "coffer-secrets: --provider: standard input is not a socket\n2\n12\n",
      "\(output)")
  }

  /// The agent knows the program by its file, not by its name or content.
  @Test func aCopyOfTheProgramHasNoRights() throws {
    let output = try Self.output(
      """
      coffer vault init --key-file key --no-passphrase; coffer vault unlock --key-file key
      mkdir copy; cp "$(command -v coffer-secrets)" copy; ln -s "$(command -v coffer)" copy/coffer
      secrets copy/coffer-secrets; client refused_program; end
      """)
    #expect(output == "good\n", "\(output)")
  }
}
