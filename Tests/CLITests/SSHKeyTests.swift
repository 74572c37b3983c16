import Glibc
import Testing

private let isOpenSSHThere = ["/usr/bin/ssh-agent", "/usr/sbin/sshd"].allSatisfy { (path: String) in
  unsafe access(path, X_OK) == 0
}

/// Keys of the vault in the programs of OpenSSH.
@Suite(.enabled(if: isOpenSSHThere, "takes openssh-client and openssh-server"), .timeLimit(.minutes(60)))
struct SSHKeyTests {
  private static let hostile =
    TranscriptTests.directory.dropLast("CLITests/Transcripts".utf8.count) + "Support/SSHClients/hostile.py"

  /// A vault that is unlocked, keys of three types and a certificate in it alone, an agent, and a server that is a child of ssh. A pinentry
  /// that answers `answer`, and writes what it is told.
  private static let preparation = """
    exec 2>&1
    umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase >/dev/null
    cat >pinentry <<X; chmod +x pinentry
    #!/bin/sh
    echo OK
    while read -r line; do echo "\\$line" >>$W/told; case \\$line in GETPIN) cat $W/answer ;; *) echo OK ;; esac; done
    X
    export DISPLAY=:7 COFFER_PINENTRY=$W/pinentry; : >told
    coffer vault unlock --key-file key
    mkdir -p home/.ssh gone; [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
    for type in ed25519 ecdsa rsa; do ssh-keygen -q -t $type -N '' -C "ada@$type" -f id_$type; done
    for other in host elsewhere ca own; do ssh-keygen -q -t ed25519 -N '' -f $other; done
    ssh-keygen -q -s ca -I ada -n "$(id -un)" id_ed25519.pub
    cat id_ecdsa.pub id_rsa.pub >authorized
    echo "git.example.org $(cut -d' ' -f1,2 host.pub)" >home/.ssh/known_hosts
    echo "other.example.org $(cut -d' ' -f1,2 elsewhere.pub)" >>home/.ssh/known_hosts
    printf '%s\\n' "AuthorizedKeysFile $W/authorized" "TrustedUserCAKeys $W/ca.pub" 'StrictModes no' 'PidFile none' 'UsePAM no' \\
      'PasswordAuthentication no' 'KbdInteractiveAuthentication no' >sshd_config
    login() { # KEY [HOST KEY-OF-HOST]
      ssh -F none -o ProxyCommand="/usr/sbin/sshd -i -f $W/sshd_config -h $W/${3:-host}" -o HostKeyAlias=${2:-git.example.org} \\
        -o UserKnownHostsFile=$W/home/.ssh/known_hosts -o BatchMode=yes -o IdentitiesOnly=yes -o IdentityFile="$state/$1.pub" \\
        "$(id -un)@x" echo in by $1 2>/dev/null || echo refused $1
    }
    sign() { rm -f m.sig; echo m >m; ssh-keygen -q -Y sign -n file -f ${1:-id_ecdsa.pub} m >/dev/null 2>&1 && echo signed || echo refused; }
    agents() { for beside in $(ps -e -o pid,ppid | awk -v p=$1 '$2 == p { print $1 }'); do ps -e -o pid,ppid | awk -v p=$beside '$2 == p { print $1 }'; done; }
    gone() { for p; do until ! kill -0 $p 2>/dev/null || [ "$(ps -o stat= -p $p | cut -c1)" = Z ]; do sleep 0.1; done; done; }
    state=$W/coffer/state/ssh
    eval "$(coffer-ssh-agent -s)" >/dev/null

    """
  private static let added = preparation + "coffer ssh add id_ed25519 id_ecdsa id_rsa; mv id_ed25519 id_ecdsa id_rsa gone\n"
  private static let end = "\ncoffer-ssh-agent -k >/dev/null; coffer agent stop\n"

  private func lines(_ script: String) throws -> [String] {
    let outcome = try Workspace().run(script: script + Self.end)
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test func loginsWithEachTypeOfKey() throws {
    let lines = try lines(
      Self.added + """
        for key in id_ecdsa id_rsa id_ed25519-cert; do login $key; done
        login id_ed25519
        """)
    #expect(lines == ["in by id_ecdsa", "in by id_rsa", "in by id_ed25519-cert", "refused id_ed25519"])
  }

  /// The agent has the keys of the vault, and those that clients add, which live in it alone.
  @Test func keysOfClientsAreBesideThoseOfTheVault() throws {
    let lines = try lines(
      Self.added + """
        count() { ssh-add -l | grep -c -v 'no identities'; }
        count; ssh-add -q own; count; ssh-add -q gone/id_rsa; count; ssh-add -qD; count
        cp id_rsa.pub gone; ssh-add -qd gone/id_rsa >/dev/null 2>&1; count; sign id_rsa.pub
        """)
    #expect(lines == ["4", "5", "5", "4", "4", "signed"])
  }

  /// ssh-add -x and -X.
  @Test func aLockedAgentShowsAndUsesNothingOfTheVault() throws {
    let lines = try lines(
      Self.added + """
        printf '#!/bin/sh\\necho %s\\n' secret >askpass; chmod +x askpass; export SSH_ASKPASS=$W/askpass SSH_ASKPASS_REQUIRE=force
        ssh-add -x >/dev/null 2>&1; ssh-add -l; sign
        printf '#!/bin/sh\\necho %s\\n' wrong >askpass; ssh-add -X 2>/dev/null || echo wrong; sign
        printf '#!/bin/sh\\necho %s\\n' secret >askpass; ssh-add -X >/dev/null 2>&1; ssh-add -l | grep -c ada; sign
        """)
    #expect(
      lines.filter { $0 != "Failed to unlock agent" } == [
        "The agent has no identities.", "refused", "wrong", "refused", "4", "signed",
      ])
  }

  /// The list stays. The owner is asked at the display, once for requests at one time; without an answer the request fails.
  @Test func aLockedVaultIsUnlockedByItsOwnerAlone() throws {
    let lines = try lines(
      Self.added + """
        printf 'D correct horse\\nOK\\n' >answer; coffer vault slot add --new-passphrase --low-memory --key-file key >/dev/null 2>&1
        coffer lock; ssh-add -l | wc -l
        printf 'ERR 83886179 Operation cancelled\\n' >answer; : >told; sign; grep -c GETPIN told
        printf 'D correct horse\\nOK\\n' >answer; : >told; sign; grep -c GETPIN told
        """)
    #expect(lines == ["4", "refused", "1", "signed", "1"], "\(lines)")
  }

  @Test func theOwnerIsAskedAboutAKeyAndToldTheHost() throws {
    let lines = try lines(
      Self.preparation + """
        coffer ssh add id_ecdsa --confirm 0; mv id_ecdsa gone
        printf 'D yes\\nOK\\n' >answer; : >told; login id_ecdsa; grep -o 'sign for [^%]*' told; grep -o 'program coffer-ssh-agent' told
        : >told; sign; grep -o 'sign for the use file' told
        printf 'D no\\nOK\\n' >answer; sign
        """)
    #expect(
      lines == [
        "in by id_ecdsa", "sign for git.example.org, user \(user())\"", "program coffer-ssh-agent", "signed",
        "sign for the use file", "refused",
      ], "\(lines)")
  }

  private func user() -> String { unsafe getpwuid(geteuid()).map { unsafe String(cString: $0.pointee.pw_name) } ?? "" }

  /// The constraint goes into the vault with the key, and OpenSSH's agent checks it.
  @Test func aKeyForOneHostSignsForThisHostAlone() throws {
    let lines = try lines(
      Self.preparation + """
        coffer ssh add id_ecdsa --destination git.example.org --known-hosts home/.ssh/known_hosts; mv id_ecdsa gone
        login id_ecdsa; login id_ecdsa other.example.org elsewhere; sign
        """)
    #expect(lines == ["in by id_ecdsa", "refused id_ecdsa", "refused"])
  }

  /// cofferd knows the program by its file: a copy elsewhere is any program of the user.
  @Test func anotherProgramGetsNoKey() throws {
    let lines = try lines(
      Self.added + """
        sign; coffer-ssh-agent -k >/dev/null; cp "$(command -v coffer-ssh-agent)" copy; eval "$(./copy -s)" >/dev/null
        ssh-add -l | wc -l; sign; coffer app log | grep -c 'refused.*no app'
        """)
    #expect(lines == ["signed", "4", "refused", "1"], "\(lines)")
  }

  /// Another user than root reads of no process that hides itself which program it is, so cofferd sees this one only while it asks.
  @Test(.enabled(if: geteuid() == 0, "takes the superuser, to be another user")) func itIsHiddenUnlessItAsks() throws {
    let workspace = try Workspace()
    let script =
      Self.added + """
        sign; cat /proc/$SSH_AGENT_PID/maps >/dev/null 2>&1 && echo readable || echo hidden; sign
        """ + Self.end
    let quoted = script.replacing("'", with: #"'\''"#)
    let outcome = try workspace.run(
      script: "chown -R nobody $W; exec setpriv --reuid=nobody --regid=nogroup --clear-groups sh -c '\(quoted)'")
    #expect(outcome.output.split(separator: "\n") == ["signed", "hidden", "signed"], "\(outcome.output)")
  }

  /// Each is refused, and costs at most its own connection.
  @Test func hostileClientsStopNoOther() throws {
    let lines = try lines(
      Self.added + """
        python3 '\(Self.hostile)' "$SSH_AUTH_SOCK"; sign; ssh-add -l | wc -l
        """)
    #expect(
      lines == [
        "length 0: closed", "length 4 GiB: closed", "cut off: open", "numbers: 252 refused", "1000 connections", "slow: open",
        "signed", "4",
      ], "\(lines)")
  }

  /// A process that is killed leaves neither its agents nor, beyond two seconds, a key in one.
  @Test func killedItLeavesNoAgentBehind() throws {
    let lines = try lines(
      Self.added + """
        sign; ssh-add -q own; left=$(agents $SSH_AGENT_PID); echo $left | wc -w; kill -9 $SSH_AGENT_PID; gone $left; echo gone
        eval "$(coffer-ssh-agent -s)" >/dev/null; sign
        """)
    #expect(["1", "2"].contains(lines.dropFirst().first) && lines.count == 4, "\(lines)")
    #expect(lines.first == "signed" && lines.suffix(2) == ["gone", "signed"], "\(lines)")
  }

  /// A socket that was left behind is replaced, one that answers and one that is a file are not; and a directory that is a link, or open to
  /// others, is not used.
  @Test func theSocketIsThisUsersAlone() throws {
    let lines = try lines(
      Self.preparation + """
        start() { coffer-ssh-agent "$@" -D >/dev/null & agent=$!; wait $agent; echo "status $?"; }
        start; kill -9 $SSH_AGENT_PID; ls $SSH_AUTH_SOCK >/dev/null; eval "$(coffer-ssh-agent -s)" >/dev/null; ssh-add -l
        : >file; start -a $W/file; ls -l file | cut -c1
        coffer-ssh-agent -k >/dev/null; mkdir real; mv coffer/run coffer/was; ln -s $W/real coffer/run; start; rm coffer/run; mkdir -m 755 coffer/run; start
        rmdir coffer/run; mv coffer/was coffer/run; eval "$(coffer-ssh-agent -s)" >/dev/null; stat -c %a $SSH_AUTH_SOCK
        """)
    // The agent of the vault ends with its socket.
    let words = lines.filter { !$0.hasPrefix("note:") }.map { $0.split(separator: ": ").last.map(String.init) ?? $0 }
    #expect(
      words == [
        "an agent answers there already", "status 1", "The agent has no identities.", "is not a socket", "status 1", "-",
        "is not a directory of this user alone", "status 1", "is not a directory of this user alone", "status 1", "600",
      ], "\(lines)")
  }

  /// Its program ends with OpenSSH's agent, since the keys of the clients are gone.
  @Test func withoutOpenSSHsAgentItEnds() throws {
    let lines = try lines(
      Self.preparation + """
        coffer-ssh-agent -k >/dev/null; coffer-ssh-agent -a $W/sock -D >/dev/null & agent=$!
        until [ -S sock ]; do sleep 0.1; done; SSH_AUTH_SOCK=$W/sock ssh-add -l
        kill -9 $(agents $agent)
        wait $agent; echo "status $?"; ls sock 2>/dev/null; eval "$(coffer-ssh-agent -s)" >/dev/null
        """)
    #expect(lines == ["The agent has no identities.", "status 1"], "\(lines)")
  }

  /// Else it would start itself without an end.
  @Test func itIsNotTakenForOpenSSHs() throws {
    let lines = try lines(
      Self.preparation + """
        mkdir bin; ln -s "$(command -v coffer-ssh-agent)" bin/ssh-agent; PATH=$W/bin:$PATH coffer-ssh-agent -a $W/sock -D >/dev/null; echo "status $?"
        """)
    #expect(
      lines == [
        "coffer-ssh-agent: ssh-agent in PATH is this program, and not OpenSSH's",
        "coffer-ssh-agent: OpenSSH's ssh-agent does not start: it has ended at once", "status 1",
      ])
  }

  /// As ssh-agent(1) does: the program's status is that of the command, and the agent ends with it.
  @Test func aCommandRunsWithAnAgent() throws {
    let lines = try lines(
      Self.preparation + """
        coffer-ssh-agent -k >/dev/null; gone $SSH_AGENT_PID
        coffer-ssh-agent sh -c 'ssh-add -l; echo $SSH_AGENT_PID >pid; exit 7'; echo "status $?"
        gone $(cat pid); echo ended
        coffer-ssh-agent ./missing 2>/dev/null; echo "status $?"; until [ ! -S coffer/run/ssh.sock ]; do sleep 0.1; done
        eval "$(coffer-ssh-agent -s)" >/dev/null
        """)
    #expect(lines == ["The agent has no identities.", "status 7", "ended", "status 127"], "\(lines)")
  }
}
