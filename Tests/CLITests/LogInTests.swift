import SystemBench
import Testing

/// `pam_coffer.so` in a log-in: by libpam, with users and services of the test's own in a mount namespace.
@Suite(.enabled(if: SystemBench.mayMount, "takes the superuser, who may mount"))
struct LogInTests {
  private static let tests = TranscriptTests.directory.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
  private static let root = tests.split(separator: "/").dropLast().map { "/" + $0 }.joined()

  /// Defines the users ada and bob, and a service `log-in`. The log of the system is standard error.
  private static let begin = """
    exec 2>&1
    unset COFFER_HOME; chmod 711 .; umask 022
    programs=$(dirname "$(command -v coffer)")
    mkdir -p etc/pam.d bin run homes
    cp "$programs/coffer" "$programs/cofferd" bin
    make -s -C '\(root)' PROGRAMS="$W/bin" "$W/bin/pam_coffer.so" || exit 1
    ada=$((100000 + $$)) bob=$((5000000 + $$))
    for name in passwd group shadow; do cp /etc/$name etc/$name; done
    for user in ada bob; do
      eval "number=\\$$user"
      mkdir -p -m 700 homes/$user run/$number; chown $number:$number homes/$user run/$number
      echo "$user:x:$number:$number::$W/homes/$user:/bin/sh" >>etc/passwd
      echo "$user:x:$number:" >>etc/group
      echo "$user:$(openssl passwd -6 "the log-in of $user"):19000:0:99999:7:::" >>etc/shadow
    done
    echo 'extra:x:61300:ada' >>etc/group; chmod 600 etc/shadow
    for name in passwd group shadow pam.d; do mount --bind etc/$name /etc/$name; done
    # What the module is given instead of coffer: it says what it has, and what it was given.
    cat >bin/probe <<'PROBE'
    #!/usr/bin/perl
    # A shell changes its signals. 32 and 33 are glibc's own, and perl ignores SIGFPE.
    open(my $status, '<', '/proc/self/status'); open(my $signals, '>', "$ENV{HOME}/signals");
    print $signals map { s/^(SigIgn:.)0{7}(?:00|18)0{5}80$/${1}0000000000000000/r } grep { /^(Uid|Sig(Blk|Ign))/ } <$status>;
    close $signals; exec('/bin/sh', "$0.sh", @ARGV);
    PROBE
    cat >bin/probe.sh <<'PROBE'
    if [ -e "${0%/*}/forever" ]; then trap '' TERM; echo $$ >"$HOME/process"; exec sleep 1000; fi
    {
      echo "$*"; cat; echo; env | grep -v ^PWD= | sort | sed "s|$HOME|~|; s|=.*/run/[0-9]*|=run/ada|"; ls /proc/self/fd | wc -l
      id -u; id -g; id -G; pwd; umask; cat "$HOME/signals"; [ "$(cut -d ' ' -f 6 /proc/$$/stat)" = $$ ] && echo leads
    } >"$HOME/started" 2>&1
    PROBE
    chmod 755 bin/probe
    service() {
      printf '%s\\n' >etc/pam.d/log-in "auth required pam_unix.so" "auth optional $W/bin/pam_coffer.so" "account required pam_unix.so" \\
        "password required pam_unix.so" "session required pam_permit.so" "$1" "session optional $W/bin/pam_coffer.so $2" "$3"
    }
    # What pam_systemd does.
    echo "XDG_RUNTIME_DIR=$W/run/$ada" >etc/variables; : >etc/none
    variables="session required pam_env.so conffile=$W/etc/none envfile=$W/etc/variables"
    enter() { user=$1; shift; printf '%s\\n' "the log-in of $user" | pamtester log-in $user "$@" >entered 2>&1; echo "$user: $?"; }
    steps() { /usr/bin/python3 '\(tests)/Support/LogIn/log_in.py' log-in ada 'the log-in of ada' "$@"; }
    started() { if [ -e homes/ada/started ]; then echo started; rm homes/ada/started; else echo 'not started'; fi; }
    by() {
      setpriv --reuid $ada --regid $ada --clear-groups env -i HOME=$W/homes/ada XDG_RUNTIME_DIR=$W/run/$ada PATH=$W/bin:/usr/bin:/bin "$@"
    }
    vault() { printf 'the log-in of ada' | by coffer vault init --low-memory --passphrase-fd 0 2>/dev/null; }
    gone() { while pgrep -u $ada cofferd >/dev/null; do sleep 0.05; done; }
    doctor() { by coffer doctor 2>/dev/null | grep log-in | sed 's/of 2.*Z:/of T:/'; }

    """

  private static func output(_ script: String) throws -> String {
    try Workspace().run(script: "cat >script <<'SCRIPT'\n\(begin)\(script)\nSCRIPT\nunshare -m --propagation private sh script")
      .output
  }

  /// With keyboard-interactive the password is in a process of its own, which is gone when the session begins.
  @Test(arguments: [("no", "unlocked"), ("yes", "none")])
  func sshWithAPasswordOpensTheVault(isInteractive: String, state: String) throws {
    let output = try Self.output(
      """
      service "$variables" "$W/bin/coffer"; cp etc/pam.d/log-in etc/pam.d/sshd; vault; mkdir -p /run/sshd
      ssh-keygen -q -t ed25519 -N '' -f host
      printf '%s\\n' "HostKey $W/host" 'UsePAM yes' 'PasswordAuthentication yes' 'KbdInteractiveAuthentication \(isInteractive)' >sshd.conf
      printf '%s\\n' '#!/bin/sh' 'echo "the log-in of ada"' >answer; chmod 755 answer
      SSH_ASKPASS=$W/answer SSH_ASKPASS_REQUIRE=force ssh -F none -o ProxyCommand="/usr/sbin/sshd -i -f $W/sshd.conf" -o LogLevel=ERROR \
        -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o PubkeyAuthentication=no ada@host id -un
      by coffer agent status; by coffer agent stop; gone
      """)
    #expect(output == "ada\n\(state)\n" + (state == "none" ? "note: no agent runs\n" : ""), "\(output)")
  }

  @Test func theVaultIsOpenAfterALogInWithItsPassphrase() throws {
    let output = try Self.output(
      """
      service "$variables" "$W/bin/coffer"; vault
      enter ada authenticate open_session close_session; by coffer agent status; doctor
      printf 'the log-in of ada' | by coffer vault passphrase --passphrase-fd 0 --new-passphrase-fd 3 3<<END 2>/dev/null
      another passphrase of the test
      END
      enter ada authenticate open_session; by coffer agent status; by coffer agent stop; gone
      enter ada authenticate open_session; gone; by coffer agent status 2>/dev/null; doctor
      by coffer doctor --json 2>/dev/null | grep -o '"logIn":{"time":[0-9]*,"problem":"the password'  | sed 's/[0-9][0-9]*/N/'
      printf 'another passphrase of the test' | by coffer vault passphrase --passphrase-fd 0 --new-passphrase-fd 3 3<<END 2>/dev/null
      the log-in of ada
      END
      enter ada authenticate open_session; by coffer agent status; doctor; by coffer agent stop
      by coffer doctor --json 2>/dev/null | grep -o '"logIn":null'
      """)
    // An agent that is unlocked stays so: the second log-in derives no key.
    #expect(
      output == """
        ada: 0
        unlocked
        ada: 0
        unlocked
        ada: 0
        none
        log-in of T: the password does not open the vault; coffer vault passphrase makes it the passphrase
        "logIn":{"time":N,"problem":"the password
        ada: 0
        unlocked
        "logIn":null

        """, "\(output)")
  }

  /// Nor does anything remain in the home of a user who has no vault.
  @Test func noLogInFailsBecauseOfTheVault() throws {
    let output = try Self.output(
      """
      service "$variables" "$W/bin/coffer"; enter ada authenticate open_session; ls -A homes/ada
      vault; printf 'the log-in of ada' | by coffer vault unlock --passphrase-fd 0
      agent=$(pgrep -u $ada cofferd); kill -STOP $agent; begun=$(date +%s); enter ada authenticate open_session
      [ $(($(date +%s) - begun)) -lt 60 ] && echo in time; doctor | grep -o 'log-in of T'; kill -9 $agent
      chmod 0 homes/ada/.local/state/coffer; enter ada authenticate open_session
      """)
    #expect(output == "ada: 0\nada: 0\nin time\nlog-in of T\nada: 0\n", "\(output)")
  }

  @Test func aProgramThatDoesNotEndDelaysALogInForFiveSeconds() throws {
    let output = try Self.output(
      """
      service "$variables" "$W/bin/probe"; touch bin/forever
      begun=$(date +%s%N); steps authenticate open children; taken=$((($(date +%s%N) - begun) / 1000000))
      [ $taken -ge 5000 ] && [ $taken -lt 60000 ] && echo in time
      kill -0 $(cat homes/ada/process) 2>/dev/null || echo ended
      """)
    #expect(output == "authenticate 0\nopen 0\nno child is left\nin time\nended\n", "\(output)")
  }

  @Test func aLogInThatCannotUnlockSucceeds() throws {
    let output = try Self.output(
      """
      for program in '' coffer "$W/bin/none" "$W/bin/probe more"; do
        service "$variables" "$program"; enter ada authenticate open_session; started
      done
      service "$variables" "$W/bin/probe"; enter ada authenticate open_session; started
      """)
    #expect(
      output == String(repeating: "ada: 0\nnot started\n", count: 4) + "ada: 0\nstarted\n", "\(output)")
  }

  @Test func onlyTheUserAndTheProcessOfTheAuthenticationCount() throws {
    let output = try Self.output(
      """
      chmod 777 homes/ada homes/bob; service "" "$W/bin/probe"; own="variable=XDG_RUNTIME_DIR=$W/run/$ada"
      steps authenticate $own open; started
      steps authenticate user=bob "variable=XDG_RUNTIME_DIR=$W/run/$bob" open; ls homes/bob; started
      steps authenticate $own fork open; started
      steps $own open; started
      """)
    #expect(
      output == """
        authenticate 0
        open 0
        started
        authenticate 0
        open 0
        not started
        authenticate 0
        open 0
        not started
        open 0
        not started

        """, "\(output)")
  }

  @Test func theDirectoryOfSocketsIsTheUsersAlone() throws {
    let output = try Self.output(
      """
      service "" "$W/bin/probe"; ln -s $ada run/link; mkdir -m 755 run/open; chown $ada run/open; touch run/file; chown $ada run/file; chmod 700 run/file
      steps authenticate open >/dev/null; started
      for place in run/$bob run/link run/open run/file run/none; do
        steps authenticate "variable=XDG_RUNTIME_DIR=$W/$place" open >/dev/null; started
      done
      steps authenticate "variable=XDG_RUNTIME_DIR=run/$ada" open >/dev/null; started
      steps authenticate "variable=XDG_RUNTIME_DIR=$W/run/$ada" open >/dev/null; started
      """)
    #expect(output == String(repeating: "not started\n", count: 7) + "started\n", "\(output)")
  }

  /// Descriptors, variables, groups and signals of the log-in's process do not reach the program.
  @Test(arguments: ["", "ignored ", "handled ", "bare "])
  func theProgramHasNothingOfTheLogIn(state: String) throws {
    let output = try Self.output(
      """
      service "$variables" "$W/bin/probe"; exec 7<.; export LEAKED=1
      steps authenticate \(state)open children signals; sed "s/$ada/ada/g" homes/ada/started
      """)
    let signals = ["ignored ": "ignored blocked 0", "handled ": "handled open 0"]
    #expect(
      output == """
        authenticate 0
        open 0
        no child is left
        \(signals[state] ?? "default open 0")
        vault unlock --at-log-in --no-input --passphrase-fd 0
        the log-in of ada
        HOME=~
        XDG_RUNTIME_DIR=run/ada
        4
        ada
        ada
        ada 61300
        /
        0077
        Uid:\tada\tada\tada\tada
        SigBlk:\t0000000000000000
        SigIgn:\t0000000000000000
        leads

        """, "\(output)")
  }

  /// The control is a look before the module: there it is held.
  @Test func thePasswordIsNotInMemoryAfterTheSessionWasOpened() throws {
    let output = try Self.output(
      """
      text=$(printf 'the log-in of ada' | od -An -tx1 | tr -d ' \\n')
      printf '%s\\n' '#!/bin/sh' "/usr/bin/python3 '\(Self.tests)/Support/LogIn/holds.py' \\$PPID $text >>$W/looked" >look; chmod 755 look
      service "$variables\n session required pam_exec.so $W/look" "$W/bin/probe" "session required pam_exec.so $W/look"
      enter ada authenticate open_session; cat looked; started
      """)
    #expect(output == "ada: 0\nheld\nnot held\nstarted\n", "\(output)")
  }

  /// As an installation below /usr has it: the session's line has to follow that of pam_systemd, which sets `XDG_RUNTIME_DIR`.
  @Test func pamAuthUpdatePutsItLast() throws {
    let output = try Self.output(
      """
      umount /etc/pam.d
      for place in etc/pam.d usr/share/pam-configs var/lib/pam var/cache/debconf; do
        mkdir -p copy/$place; cp -a /$place/. copy/$place; mount --bind copy/$place /$place
      done
      sed 's|@PREFIX@|/usr|; s|@SECURITY@|/security|' '\(Self.root)/Packaging/pam/coffer' >/usr/share/pam-configs/coffer
      printf '%s\\n' 'Name: systemd' 'Default: yes' 'Priority: 0' 'Session-Interactive-Only: yes' 'Session-Type: Additional' 'Session:' \
        '	optional	pam_systemd.so' >/usr/share/pam-configs/systemd
      export DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin
      pam-auth-update --package; grep -c coffer /etc/pam.d/common-auth; pam-auth-update --enable coffer
      for stack in auth session password session-noninteractive; do
        echo "$stack:"; grep -v '^#' /etc/pam.d/common-$stack | grep -E 'pam_(unix|systemd|coffer)' | tr -s '\t ' ' ' | cut -d ' ' -f 1,3- | sed 's/ $//' | tail -n 2
      done | grep -v pam_unix
      """)
    #expect(
      output == """
        0
        auth:
        auth /security/pam_coffer.so
        session:
        session pam_systemd.so
        session /security/pam_coffer.so /usr/bin/coffer
        password:
        session-noninteractive:

        """, "\(output)")
  }

  /// Also where it is the only module, or all are asked.
  @Test func theModuleLetsNobodyIn() throws {
    let output = try Self.output(
      """
      printf '%s\\n' >etc/pam.d/log-in "auth sufficient $W/bin/pam_coffer.so" "password sufficient $W/bin/pam_coffer.so" \\
        "session required $W/bin/pam_coffer.so"
      steps authenticate change open | sed 's/ [1-9].*/ refused/'
      printf '%s\\n' >etc/pam.d/log-in "auth optional pam_unix.so" "auth sufficient $W/bin/pam_coffer.so"
      printf wrong | pamtester log-in ada authenticate >entered 2>&1; grep -c successfully entered
      """)
    #expect(output == "authenticate refused\nchange refused\nopen 0\n0\n", "\(output)")
  }
}
