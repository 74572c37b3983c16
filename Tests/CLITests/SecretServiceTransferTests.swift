import Testing

/// `coffer import secret-service` and `coffer export secret-service`, with gnome-keyring, and with programs that do not answer as they should.
@Suite struct SecretServiceTransferTests {
  static let vault = "coffer vault init --key-file key --no-passphrase; coffer vault unlock --key-file key"

  /// gnome-keyring, unlocked unless it is told otherwise; and a program that does what its arguments say.
  static let programs = """
    mkdir -m 700 runtime; mkfifo stop
    keyring() { printf secret | XDG_RUNTIME_DIR=$W/runtime gnome-keyring-daemon --foreground ${1---unlock} --components=secrets >/dev/null 2>&1 & peer=$!
      until coffer bus status | grep -q "process $peer$"; do sleep 0.05; done; }
    provider() { mkfifo ready; /usr/bin/python3 \(SecretServiceTests.clients.replacing("clients.py", with: "provider.py")) "$@" <>stop >ready 2>&1 & peer=$!
      read -r line <ready; rm ready; }
    ended() { kill $peer; wait $peer; } 2>/dev/null
    secrets_ended() { kill $secrets; wait $secrets; } 2>/dev/null
    """

  private static func output(_ script: String) throws -> String { try SecretServiceTests.output("\(programs)\n\(script)") }

  @Test func itemsGoFromGnomeKeyringAndBack() throws {
    let output = try Self.output(
      """
      \(Self.vault); keyring
      printf one | secret-tool store --label=One a 1; printf 'two\\nlines' | secret-tool store --label=Two a 2 b 3; client kept_with_a_schema
      coffer import secret-service --dry-run | sort; coffer import secret-service | sort; coffer import secret-service | sort
      ended; secrets; secret-tool lookup a 1; echo; secret-tool lookup b 3; echo; client found_by_its_schema
      printf three | secret-tool store --label=Three c 4; client kept_as_a_type; secrets_ended; keyring
      coffer export secret-service --dry-run | sort; coffer export secret-service | sort; coffer export secret-service --json | grep -o '"lost".*'
      secret-tool lookup c 4; echo; ended; coffer agent stop; kill $bus; wait
      """)
    let all = ["Ada", "One", "Two"]
    func rows(_ result: String, _ labels: [String]) -> String { labels.map { "\(result)\t\($0)\tLogin\n" }.joined() }
    let trial = "note: a trial: nothing has been changed\n"
    let back = rows("added", ["Bytes", "Three"]) + rows("identical", all)
    #expect(
      output == "good\n" + trial + rows("added", all) + rows("added", all) + rows("identical", all)
        + "one\ntwo\nlines\ngood\ngood\n"
        + trial + back + "note: Login: Bytes: the type of the content, application/x-bin, is text/plain there\n" + back
        + "\"lost\":[]}\nthree\n", "\(output)")
  }

  /// Without it the app could not read its file any more.
  @Test func theKeyOfASandboxedAppComesAlong() throws {
    let output = try Self.output(
      """
      # It shows the item on the bus after its next start.
      \(Self.vault); keyring; client app_key_of_another one; ended; keyring; coffer import secret-service | cut -f 1,3; ended
      secrets; client app_key_again one; secrets_ended
      coffer secret rm --group secret-service/login "$(coffer secret list --group secret-service/login | cut -f 1)"
      coffer secret rm --group secret-service/portal portal/org.example.One; secrets; client app_keys; secrets_ended
      keyring; coffer import secret-service; ended; coffer agent stop; kill $bus; wait
      """)
    #expect(
      output == """
        good
        added\tLogin
        good
        good
        added\t\tLogin
        note: Login: the app has another key here, secret-service/portal: portal/org.example.One

        """, "\(output)")
  }

  /// And the way back: gnome-keyring gives the same key then.
  @Test func aKeyThatWasMadeHereGoesToGnomeKeyring() throws {
    let output = try Self.output(
      """
      \(Self.vault); secrets; client app_asked; secrets_ended; keyring
      coffer export secret-service --collection Other 2>/dev/null; echo $?; coffer export secret-service --collection Login
      coffer export secret-service; coffer import secret-service; coffer export secret-service; client app_key_of_another one; ended
      secrets; client app_key_again one; printf other | secret-tool store --label=Other app_id org.example.One; secrets_ended; keyring
      coffer export secret-service; coffer export secret-service --json | grep -o '"lost".*'; ended; coffer agent stop; kill $bus; wait
      """)
    let note = "note: Login: Other: the app has another key here, secret-service/portal: portal/org.example.One\n"
    func row(_ result: String) -> String { "\(result)\tKey of org.example.One\tLogin\n" }
    #expect(
      output == "good\n3\n" + row("added") + row("identical") + row("added") + row("identical") + "good\ngood\n"
        + row("identical") + note
        + #""lost":[{"collection":"Login","label":"Other","reason":"app-key"}]}"# + "\n", "\(output)")
  }

  /// KeePassXC asks about each item, unless its user has turned that off, makes each new one by a prompt, and adds attributes.
  @Test func itemsThatAreLockedOneByOneNeedLeaveToAsk() throws {
    let output = try Self.output(
      """
      \(Self.vault); export DISPLAY=:none; provider entries=no; coffer import secret-service; echo $?
      coffer import secret-service --prompt; echo $?; ended; provider entries=yes; coffer import secret-service --prompt; ended
      secrets; printf Mine | secret-tool store --label=Mine name Mine xdg:schema org.example; secrets_ended
      provider entries=yes; coffer export secret-service; echo $?; coffer export secret-service --prompt 2>&1 | sort; cat changes
      coffer export secret-service | sort; coffer import secret-service --dry-run 2>/dev/null | sort; ended; coffer agent stop; kill $bus; wait
      """)
    let hint = "hint: --prompt lets it ask in a window; --collection LABEL leaves others out\n5\n"
    #expect(
      output == "coffer: First: \(Self.python) has 3 items of this collection locked\n" + hint
        + "coffer: cancelled: nothing has been changed\n8\n" + """
          added\té labelled\tFirst
          note: First: é large: is larger than an item can hold
          note: First: é name: the name of an attribute is empty, or has a control character
          note: First: é silent-type: is larger than an item can hold
          note: First: é refused: AccessDenied: org.freedesktop.DBus.Error.AccessDenied: not for you
          coffer: Login: \(Self.python) has 1 item of this collection locked
          \(hint)added\tMine\tLogin
          identical\té labelled\tLogin
          note: Login: Mine: the label is another one there
          note: Login: Mine: the type of the content, text/plain, is application/x-y there
          CreateItem Mine
          identical\tMine\tLogin
          identical\té labelled\tLogin
          identical\té Mine\tFirst
          identical\té labelled\tFirst

          """, "\(output)")
  }

  @Test func nothingIsOverwrittenUnlessItIsDecided() throws {
    let output = try Self.output(
      """
      \(Self.vault); keyring; look() { secret-tool lookup a 1; echo; coffer secret list --group secret-service/login | wc -l; }
      own() { coffer secret get coffer://secret-service%2Flogin/$(coffer secret list --group secret-service/login | cut -f 1); echo; }
      printf one | secret-tool store --label=One a 1; coffer import secret-service
      printf other | secret-tool store --label=Uno a 1; coffer import secret-service; echo $?; own
      coffer import secret-service --dry-run; own; coffer import secret-service --keep; own; coffer export secret-service; echo $?; look
      coffer export secret-service --replace; look; printf other | secret-tool store --label=Uno a 1
      coffer import secret-service --replace; own; look; coffer import secret-service --keep --replace; echo $?
      ended; coffer agent stop; kill $bus; wait
      """)
    #expect(
      output == """
        added\tOne\tLogin
        coffer: 1 item with another secret in the vault; nothing has been changed
          Login: Uno
        hint: --replace takes the secret that comes, --keep the one that is there
        4
        one
        conflict\tUno\tLogin
        note: a trial: nothing has been changed
        one
        kept\tUno\tLogin
        one
        coffer: 1 item with another secret in gnome-keyring-daemon; nothing has been changed
          Login: One
        hint: --replace takes the secret that comes, --keep the one that is there
        4
        other
        1
        replaced\tOne\tLogin
        note: Login: One: the label is another one there
        one
        1
        replaced\tUno\tLogin
        other
        other
        1
        coffer: --replace: --keep says the contrary
        2

        """, "\(output)")
  }

  /// The activation file has no part in it: the program that has the name is asked.
  @Test func itsOwnProgramIsRefusedAndAnotherOneIsReached() throws {
    let output = try Self.output(
      """
      coffer bus enable; coffer import secret-service 2>&1 | head -n 1 | grep -c 'no vault here'; \(Self.vault)
      coffer import secret-service; echo $?; coffer export secret-service 2>/dev/null; echo $?
      keyring; printf one | secret-tool store --label=One a 1; coffer import secret-service; ended
      secrets; coffer import secret-service 2>&1 | sed "s/$secrets/N/"; coffer export secret-service 2>/dev/null; echo $?
      other() { COFFER_HOME=$W/other "$@"; }; mkdir -m 700 other
      other coffer vault init --key-file key --no-passphrase; other coffer vault unlock --key-file key
      other coffer import secret-service; other coffer import secret-service
      other coffer agent stop; secrets_ended; coffer vault lock; coffer import secret-service; echo $?
      coffer agent stop; kill $bus; wait; coffer vault unlock --key-file key; coffer import secret-service 2>/dev/null; echo $?; coffer agent stop
      """)
    #expect(
      output == """
        1
        coffer: no program serves the Secret Service
        hint: start the other one: gnome-keyring-daemon --start --components=secrets
        3
        3
        added\tOne\tLogin
        coffer: coffer-secrets itself serves the Secret Service, from the vault of this agent
        hint: end it and start the other program: kill N; gnome-keyring-daemon --start --components=secrets
        1
        added\tOne\tLogin
        identical\tOne\tLogin
        coffer: the vault: is locked
        hint: coffer vault unlock
        5
        12

        """, "\(output)")
  }

  @Test func eachItemThatCannotBeKeptIsListed() throws {
    let output = try Self.output(
      """
      \(Self.vault); provider; coffer import secret-service; coffer import secret-service --json; ended; rm -f changes
      provider; coffer import secret-service --collection Third; echo $?; coffer import secret-service --collection Second; ended
      coffer agent stop; kill $bus; wait
      """)
    let refused = "AccessDenied: org.freedesktop.DBus.Error.AccessDenied: not for you"
    #expect(
      output
        == """
        added\té labelled\tFirst
        note: First: é large: is larger than an item can hold
        note: First: é name: the name of an attribute is empty, or has a control character
        note: First: é silent-type: is larger than an item can hold
        note: First: é refused: \(refused)
        {"program":"PYTHON","trial":false,"items":[{"collection":"First","label":"é labelled","result":"identical"}],"lost":\
        [{"collection":"First","label":"é large","reason":"too-large"},{"collection":"First","label":"é name","reason":\
        "name-not-allowed"},{"collection":"First","label":"é silent-type","reason":"too-large"},{"collection":"First","label":"é refused",\
        "reason":"refused"}]}
        coffer: Third: PYTHON has no such collection
          collection First
          collection Second
        hint: name one of these
        3

        """.replacing("PYTHON", with: Self.python), "\(output)")
  }

  private static let python = "python3.11"

  /// The words of the errors, by what the program does at which call.
  @Test(arguments: [
    ("OpenSession=garbage", "another form", 1), ("Get=garbage", "another form", 1), ("GetAll=garbage", "another form", 1),
    ("ReadAlias=garbage", "another form", 1), ("GetSecret=garbage", "another form", 1), ("OpenSession=gone", "has ended", 12),
    ("Get=gone", "has ended", 12), ("GetAll=gone:3", "has ended", 12), ("GetSecret=gone:2", "has ended", 12),
  ])
  func aProgramThatFailsIsAnError(action: String, words: String, code: Int) throws {
    let output = try Self.output(
      """
      \(Self.vault); provider \(action); coffer import secret-service >told 2>&1; echo $?; grep -c '\(words)' told
      coffer secret list 2>&1; coffer agent stop; kill $bus $peer 2>/dev/null; wait
      """)
    #expect(output == "\(code)\n1\n", "\(output)")
  }

  /// Those before it are in the vault, and the next import copies the others.
  @Test func aProgramThatEndsInTheMiddleLeavesWholeItems() throws {
    let output = try Self.output(
      """
      \(Self.vault); provider items=6 GetSecret=gone:13; coffer import secret-service | cat; wait $peer
      coffer secret list --group secret-service/login | wc -l
      provider items=6; coffer import secret-service 2>/dev/null | cut -f 1 | sort | uniq -c | tr -s ' '; ended
      coffer secret list --group secret-service/login | wc -l; coffer agent stop; kill $bus; wait
      """)
    #expect(
      output == """
        coffer: \(Self.python): it has ended
          3 of 7 items copied, and in the vault
        3
         4 added
         3 identical
        7

        """, "\(output)")
  }

  @Test func withoutAnAnswerThereIsAnErrorAndAnInterruptEndsTheWait() throws {
    let output = try Self.output(
      """
      \(Self.vault); provider items=2 GetSecret=silent; mkfifo late
      coffer import secret-service >told 2>&1 & import=$!; until [ -s asked ]; do sleep 0.05; done; kill -TERM $import; wait $import; echo $?; cat told
      pgrep -P $import; coffer import secret-service; echo $?; ended; coffer secret list; coffer agent stop; kill $bus; wait
      """)
    #expect(
      output == "8\ncoffer: cancelled: nothing has been changed\ncoffer: \(Self.python): it does not answer\n12\n", "\(output)")
  }

  /// Copied items stay, and the next import copies the rest.
  @Test func anInterruptTellsHowFarItHasCome() throws {
    let output = try Self.output(
      """
      \(Self.vault); provider items=6 GetSecret=silent:13
      # The shell has a program in the background ignore it.
      perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' coffer import secret-service >told 2>&1 & import=$!
      until [ -s asked ]; do sleep 0.05; done; kill -INT $import; wait $import; echo $?; cat told; ended
      coffer secret list --group secret-service/login | wc -l
      provider items=6; coffer import secret-service 2>/dev/null | cut -f 1 | sort | uniq -c | tr -s ' '; ended; coffer agent stop; kill $bus; wait
      """)
    #expect(
      output == """
        8
        coffer: cancelled: 3 of 7 items copied, and in the vault
        hint: the same command copies the others
        3
         4 added
         3 identical

        """, "\(output)")
  }

  /// Without a display no window is opened, and with one only if an option allows it.
  @Test func aLockedCollectionNeedsLeaveToAsk() throws {
    let output = try Self.output(
      """
      \(Self.vault)
      keyring; printf x | secret-tool store --label=L a b; ended; keyring ''; coffer import secret-service; echo $?; ended
      for person in yes no gone; do
        provider locked=$person; coffer import secret-service 2>/dev/null; echo $?; coffer import secret-service --prompt; echo $?
        DISPLAY=:none coffer import secret-service --prompt --no-input 2>/dev/null; echo $?
        DISPLAY=:none coffer import secret-service --prompt 2>&1 | grep -v note; ended
      done; coffer agent stop; kill $bus; wait
      """)
    let none =
      "5\ncoffer: --prompt: this session has no display, so that no window can be shown\nhint: in a session of the desktop\n5\n2\n"
    #expect(
      output == """
        coffer: Login: gnome-keyring-daemon has this collection locked
          collection Login
        hint: --prompt lets it ask in a window; --collection LABEL leaves others out
        5

        """ + none + "added\té labelled\tFirst\n" + none + "coffer: cancelled: nothing has been changed\n" + none
        + "coffer: \(Self.python): it has ended\n", "\(output)")
  }

  /// gnome-keyring asks for the passphrase of a new keyring.
  @Test func aCollectionIsMadeBeforeAnythingIsCopied() throws {
    let output = try Self.output(
      """
      \(Self.vault); secrets; client kept_in_two_collections; secrets_ended; provider; coffer export secret-service; echo $?; cat changes
      coffer export secret-service --collection Login 2>&1 | cut -d : -f 1-3; cat changes; ended; coffer agent stop; kill $bus; wait
      """)
    #expect(
      output == """
        good
        coffer: \(Self.python): it wants to ask at the display
        hint: --prompt lets it, if this session has a display; --collection LABEL leaves others out
        5
        dismissed
        added\tMine\tLogin
        note: Login: Mine
        note: Login: Mine
        note: Login: Mine
        note: Login: Mine
        dismissed
        CreateItem Mine

        """, "\(output)")
  }
}
