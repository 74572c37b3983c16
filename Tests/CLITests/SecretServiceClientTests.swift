import Glibc
import Testing

/// The programs that `coffer-secrets` asks for, as the agent identifies them.
@Suite struct SecretServiceClientTests {
  /// The programs of the entries for one request, each once.
  private static let by = """
    by() { coffer app log --json | grep "\\"operation\\":\\"$1\\"" | grep -o '"executable":"[^"]*"' | cut -d '"' -f 4 | sort -u; }
    """

  @Test func theLogNamesTheRealProgram() throws {
    let output = try SecretServiceTests.output(
      """
      \(SecretServiceTests.unlocked)
      \(Self.by)
      client libsecret_client; printf hello | secret-tool store --label=L a b; secret-tool lookup a b; echo
      coffer app log --json | grep '"operation":"agent.secret"' | grep -o '"caller":"[^"]*"' | sort -u
      by agent.secret | sed 's|/python[0-9.]*|/python|'; by agent.add | sed 's|/python[0-9.]*|/python|'; end
      """)
    let both = "coffer-secrets for /usr/bin/python\ncoffer-secrets for /usr/bin/secret-tool\n"
    #expect(output == "good\nhello\n\"caller\":\"coffer-secrets\"\n" + both + both, "\(output)")
  }

  /// In the place of the bus, a copy of it.
  private static func bus(_ name: String = "dbus-daemon", change: String = "", starting: String = "") -> String {
    """
    kill $bus; wait; mkdir forged; rm -f bus address; cp /usr/bin/dbus-daemon forged/\(name); \(change)
    \(starting) forged/\(name) --session --nofork --nopidfile --print-address=1 --address=$DBUS_SESSION_BUS_ADDRESS </dev/null >address 2>&1 & bus=$!
    until [ -s address ]; do sleep 0.05; done
    """
  }

  /// Each lacks one thing: the name, the owner, the mode, the user namespace, and the place at which root's file lies.
  private static let forgeries =
    [bus("bus")]
    + (getuid() != 0
      ? [bus()]
      : [
        bus(change: "chown nobody forged/dbus-daemon"), bus(change: "chmod g+w forged/dbus-daemon"),
        bus(starting: "unshare --user --map-root-user"),
        bus(
          starting:
            "unshare --mount sh -c 'mount --bind forged/dbus-daemon /usr/bin/dbus-daemon; shift; exec /usr/bin/dbus-daemon \"$@\"' bus"
        ),
      ])

  /// The rest of the test would hold on any bus if a copy of root's were not taken for the bus.
  @Test(.enabled(if: getuid() == 0, "only root makes files of root")) func aBusOfRootNamesProgramsWhereverItLies() throws {
    let output = try SecretServiceTests.output(
      """
      \(Self.bus())
      \(SecretServiceTests.unlocked)
      \(Self.by)
      printf hello | secret-tool store --label=L a b; by agent.add; end
      """)
    #expect(output == "coffer-secrets for /usr/bin/secret-tool\n", "\(output)")
  }

  /// A user can start a bus that names any process for any client.
  @Test(arguments: forgeries)
  func aBusOfTheUserNamesNobody(forged: String) throws {
    let output = try SecretServiceTests.output(
      """
      \(forged)
      \(SecretServiceTests.unlocked)
      \(Self.by)
      printf hello | secret-tool store --label=L a b; secret-tool lookup a b; echo
      by agent.secret; by agent.add; end
      """)
    #expect(output == "hello\ncoffer-secrets for an unknown program\ncoffer-secrets for an unknown program\n", "\(output)")
  }

  /// A program in the place of pinentry, which answers questions as the file `answer` says, and writes them down.
  private static let owner = """
    export DISPLAY=:none COFFER_PINENTRY=$W/pinentry
    printf '%s\\n' '#!/bin/sh' 'echo OK' 'while read -r line; do case $line in GETPIN*) echo asked >>$HOME/asked; cat $HOME/answer;;' \
      'SETDESC*) echo "$line" >>$HOME/told; echo OK;;' 'BYE*) echo OK; exit;;' '*) echo OK;; esac; done' >pinentry
    chmod 700 pinentry; : >home/asked
    answer() { printf 'D %s\\nOK\\n' $1 >home/answer; }
    """

  @Test func anAgreementIsThatProgramsAlone() throws {
    let output = try SecretServiceTests.output(
      """
      \(Self.owner)
      \(SecretServiceTests.unlocked)
      printf hello | secret-tool store --label=L a b; coffer bus confirm login --key-file key; coffer access list secret-service/login | cut -f 3,4
      answer longer; secret-tool lookup a b; echo; secret-tool lookup a b; echo; wc -l <home/asked
      coffer access list secret-service/login | grep -o 'coffer-secrets for [^	]*'
      client confirmed; wc -l <home/asked
      grep -c 'program /usr/bin/secret-tool%0Avia Secret Service' home/told; grep -c 'program /usr/bin/python' home/told
      coffer access revoke 1; answer no; secret-tool lookup a b; echo $?; wc -l <home/asked
      coffer bus trust login --key-file key; secret-tool lookup a b; echo; coffer bus trust login --key-file key; wc -l <home/asked; end
      """)
    #expect(
      output == """
        coffer\tread, write, list
        coffer-secrets\tread, write, list
        hello
        hello
        1
        coffer-secrets for /usr/bin/secret-tool
        good
        2
        1
        1
        1
        3
        hello
        note: login: no program is asked about
        3

        """, "\(output)")
  }

  @Test func anItemThatTheOwnerRefusesIsLeftOut() throws {
    let output = try SecretServiceTests.output(
      """
      \(Self.owner)
      \(SecretServiceTests.unlocked)
      printf hello | secret-tool store --label=L a b; coffer bus confirm login --key-file key
      answer no; client refused_secrets; wc -l <home/asked; end
      """)
    #expect(output == "good\n1\n", "\(output)")
  }

  /// An agreement that held for a time would be each program's.
  @Test func anUnknownProgramGetsNoAgreementForATime() throws {
    let output = try SecretServiceTests.output(
      """
      \(Self.bus("bus"))
      \(Self.owner)
      \(SecretServiceTests.unlocked)
      printf hello | secret-tool store --label=L a b; coffer bus confirm login --key-file key
      answer longer; secret-tool lookup a b; echo $?; wc -l <home/asked; grep -c longer home/told; end
      """)
    #expect(output == "1\n1\n0\n", "\(output)")
  }

  @Test func itHidesAndTheAgentKnowsIt() throws {
    let output = try SecretServiceTests.output(
      """
      cat >script <<'END'
      export DBUS_SESSION_BUS_ADDRESS=unix:path=$W/own
      \(SecretServiceTests.begin)
      \(SecretServiceTests.unlocked)
      printf hello | secret-tool store --label=L a b; secret-tool lookup a b; echo
      readlink /proc/$secrets/exe || echo hidden; coffer bus status | tail -n 1 | sed 's/process .*/process N/'
      client signalled; coffer agent stop; coffer vault unlock --key-file key; secret-tool lookup a b; echo; client signalled
      readlink /proc/$secrets/exe || echo hidden; end
      END
      kill $bus; wait; rm -f address bus
      if [ $(id -u) = 0 ]; then chown -R 65534 $W; setpriv --reuid=65534 --regid=65534 --clear-groups /bin/sh script; else sh script; fi
      """)
    #expect(output == "hello\nhidden\nserved by\tcoffer-secrets, process N\ngood\nhello\ngood\nhidden\n", "\(output)")
  }
}
